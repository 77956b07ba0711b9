import { crc32, deflateSync } from "node:zlib";

/** A PNG made of the given chunks behind its header. */
export function png(...chunks: readonly Uint8Array[]): Uint8Array {
  const header = Buffer.from("00000001000000010802000000", "hex");
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    pngChunk("IHDR", header),
    ...chunks,
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

export function pngChunk(type: string, data: Uint8Array): Uint8Array {
  const typeAndData = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(typeAndData), 4);
  return Buffer.concat([frame.subarray(0, 4), typeAndData, frame.subarray(4)]);
}

export function tEXt(keyword: string, text: string): Uint8Array {
  return pngChunk("tEXt", Buffer.from(`${keyword}\0${text}`, "latin1"));
}

export function zTXt(keyword: string, text: string | Uint8Array): Uint8Array {
  return pngChunk("zTXt", Buffer.concat([Buffer.from(`${keyword}\0\0`, "latin1"), deflateSync(text)]));
}

export function iTXt(keyword: string, text: string, compressed: boolean): Uint8Array {
  const head = Buffer.from(`${keyword}\0${compressed ? "\u0001" : "\0"}\0en\0${keyword}\0`, "latin1");
  return pngChunk("iTXt", Buffer.concat([head, compressed ? deflateSync(text) : Buffer.from(text)]));
}

/** A card as the chunks hold it. */
export function packed(card: unknown): string {
  return Buffer.from(JSON.stringify(card)).toString("base64");
}

/** A multipart form with one file, as bytes and the header that goes with them. */
export function multipartForm(
  file: { readonly name: string; readonly bytes: Uint8Array | string } | null,
  fields: { readonly [name: string]: string } = {},
): { readonly body: Buffer; readonly headers: { readonly "content-type": string } } {
  const boundary = "----test-boundary-7d1a";
  const parts = Object.entries(fields).map(([name, value]) =>
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  );
  if (file !== null) {
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${file.name}"\r\ncontent-type: application/octet-stream\r\n\r\n`;
    parts.push(Buffer.concat([Buffer.from(head), Buffer.from(file.bytes), Buffer.from("\r\n")]));
  }
  return {
    body: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
  };
}

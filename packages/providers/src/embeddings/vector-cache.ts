/** Vectors of this process, by tenant and key; the least recently used leave first. */
export interface VectorCache {
  get(tenantId: string, key: Uint8Array): Float32Array | null;
  set(tenantId: string, key: Uint8Array, vector: Float32Array): void;
}

/** 32 MB: 16,000 vectors of 512 numbers, 5,000 of 1,536. */
const MOST_BYTES = 33_554_432;

export function createVectorCache(mostBytes: number = MOST_BYTES): VectorCache {
  const vectors = new Map<string, Float32Array>();
  let bytes = 0;
  const nameOf = (tenantId: string, key: Uint8Array): string => `${tenantId} ${Buffer.from(key).toString("base64")}`;

  function take(name: string): Float32Array | null {
    const vector = vectors.get(name) ?? null;
    vectors.delete(name);
    bytes -= vector?.byteLength ?? 0;
    return vector;
  }
  function put(name: string, vector: Float32Array): void {
    vectors.set(name, vector);
    bytes += vector.byteLength;
  }

  return {
    get(tenantId, key) {
      const name = nameOf(tenantId, key);
      const vector = take(name);
      if (vector !== null) put(name, vector);
      return vector;
    },
    set(tenantId, key, vector) {
      const name = nameOf(tenantId, key);
      take(name);
      put(name, vector);
      for (const oldest of vectors.keys()) {
        if (bytes <= mostBytes) break;
        take(oldest);
      }
    },
  };
}

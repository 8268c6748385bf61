/**
 * SHA-256 (FIPS 180-4), the checksum of a model file and the fingerprint of a table. Our own, because the file is
 * written and read in one synchronous call that also runs in a browser: WebCrypto's digest is asynchronous, takes no
 * parts, and is absent from pages not served over https. It guards against damage and carelessness; it is no signature,
 * since anyone can recompute it.
 */

/** The first 32 bits of the fractions of the cube roots of the first 64 primes. */
// biome-ignore format: a table
const ROUND_CONSTANTS = Int32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);
/** The same for the square roots of the first 8 primes. */
// biome-ignore format: a table
const START = Int32Array.of(
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
);

const BLOCK_BYTES = 64;
const TWO_POW_32 = 4294967296;

/** A digest that is fed part by part. */
export interface Sha256 {
  /** Parts may be of any length. */
  update(part: Uint8Array): void;
  /** Returns the 32 bytes; must be the last call. */
  digest(): Uint8Array;
}

/** Starts a SHA-256 digest. */
export function createSha256(): Sha256 {
  const state = Int32Array.from(START);
  const words = new Int32Array(64);
  const rest = new Uint8Array(BLOCK_BYTES);
  const restView = new DataView(rest.buffer);
  let held = 0;
  let total = 0;

  const mix = (view: DataView, offset: number) => mixBlock(state, words, view, offset);

  function update(part: Uint8Array): void {
    total += part.length;
    let from = 0;
    if (held > 0) {
      from = Math.min(BLOCK_BYTES - held, part.length);
      rest.set(part.subarray(0, from), held);
      held += from;
      if (held < BLOCK_BYTES) return;
      mix(restView, 0);
    }
    const view = new DataView(part.buffer, part.byteOffset, part.byteLength);
    for (; from + BLOCK_BYTES <= part.length; from += BLOCK_BYTES) mix(view, from);
    held = part.length - from;
    rest.set(part.subarray(from));
  }

  return {
    update,
    digest() {
      const bits = total * 8;
      rest.fill(0, held);
      rest[held] = 0x80;
      if (held >= BLOCK_BYTES - 8) {
        mix(restView, 0);
        rest.fill(0);
      }
      restView.setUint32(BLOCK_BYTES - 8, Math.floor(bits / TWO_POW_32));
      restView.setUint32(BLOCK_BYTES - 4, bits >>> 0);
      mix(restView, 0);
      const digest = new Uint8Array(32);
      const view = new DataView(digest.buffer);
      state.forEach((word, i) => {
        view.setInt32(4 * i, word);
      });
      return digest;
    },
  };
}

/** Mixes the block at the offset into the state; `words` is a work array of 64 numbers. */
function mixBlock(state: Int32Array, words: Int32Array, view: DataView, offset: number): void {
  for (let i = 0; i < 16; i++) words[i] = view.getInt32(offset + 4 * i);
  for (let i = 16; i < 64; i++) {
    const early = words[i - 15];
    const late = words[i - 2];
    const s0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const s1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    words[i] = (words[i - 16] + s0 + words[i - 7] + s1) | 0;
  }
  // One by one: destructuring an array goes through its iterator, which is the slower half of the work.
  let a = state[0];
  let b = state[1];
  let c = state[2];
  let d = state[3];
  let e = state[4];
  let f = state[5];
  let g = state[6];
  let h = state[7];
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[i] + words[i]) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

/** The SHA-256 digest of some bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const hash = createSha256();
  hash.update(bytes);
  return hash.digest();
}

/** Bytes as hexadecimal digits. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

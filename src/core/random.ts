/**
 * Seeded randomness. Every consumer asks for its own stream by (seed, stream), so that work split over threads,
 * or resumed in the middle, draws the same numbers. The generator is pure-rand's xoroshiro128+.
 */
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { log } from "./elementary.ts";

/** A stream of random numbers determined by its seed. */
export interface Random {
  /** Uniform on [0, 1), 53 bits. */
  uniform(): number;
  /** Uniform on 0 … n−1. */
  integer(n: number): number;
  /** Standard normal (polar method). */
  normal(): number;
}

const TWO_POW_32 = 4294967296;
const TWO_POW_26 = 67108864;
const TWO_POW_53 = 9007199254740992;

/** SplitMix-style avalanche, so that neighbouring (seed, stream) pairs give unrelated generator states. */
function mix(a: number, b: number): number {
  let h = (a ^ Math.imul(b + 0x9e3779b9, 0x85ebca6b)) | 0;
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
  h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
  return (h ^ (h >>> 15)) | 0;
}

/** The random numbers of a seed, the same on every engine; the streams of one seed are separate. */
export function createRandom(seed: number, stream = 0): Random {
  const state = xoroshiro128plus(mix(mix(seed | 0, Math.floor(seed / TWO_POW_32) | 0), stream | 0));
  const next32 = () => state.next() >>> 0;
  let spare = Number.NaN;
  const uniform = () => ((next32() >>> 5) * TWO_POW_26 + (next32() >>> 6)) / TWO_POW_53;
  return {
    uniform,
    // Multiply-shift on 32 bits: the bias is n / 2^32, below 1e-3 of a count for every n we draw from.
    integer: (n) => Math.floor((next32() / TWO_POW_32) * n),
    normal() {
      if (!Number.isNaN(spare)) {
        const value = spare;
        spare = Number.NaN;
        return value;
      }
      let u: number, v: number, s: number;
      do {
        u = 2 * uniform() - 1;
        v = 2 * uniform() - 1;
        s = u * u + v * v;
      } while (s >= 1 || s === 0);
      const scale = Math.sqrt((-2 * log(s)) / s);
      spare = v * scale;
      return u * scale;
    },
  };
}

/** Fisher-Yates in place. */
export function shuffle(values: Int32Array, random: Random): void {
  for (let i = values.length - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    const kept = values[i];
    values[i] = values[j];
    values[j] = kept;
  }
}

// SHA-256 against the published vectors and Node's own, in one piece and in parts.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSha256, sha256, toHex } from "../../src/files/container/checksum.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("sha256", () => {
  // FIPS 180-4, examples of NIST's Cryptographic Standards and Guidelines.
  test.each([
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ],
    [
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
    ],
    ["a".repeat(1e6), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"],
  ])("a published vector", (text, expected) => {
    expect(toHex(sha256(bytesOf(text)))).toBe(expected);
  });

  test("every length around the block, at every alignment", () => {
    const buffer = Uint8Array.from({ length: 300 }, (_, i) => (i * 131) % 256);
    for (let length = 0; length <= 200; length++) {
      const bytes = buffer.subarray(length % 7, (length % 7) + length);
      expect(toHex(sha256(bytes))).toBe(hashOf(bytes));
    }
  });

  test("parts of any length give what the whole gives", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 150 }), { maxLength: 8 }), (parts) => {
        const hash = createSha256();
        for (const part of parts) hash.update(part);
        expect(toHex(hash.digest())).toBe(hashOf(Buffer.concat(parts)));
      }),
      { seed: 1, numRuns: 200 },
    );
  });
});

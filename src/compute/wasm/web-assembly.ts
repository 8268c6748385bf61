/**
 * The part of the WebAssembly API that the wasm backend uses. It is declared here because TypeScript has it only as
 * part of the browser's whole library, which the files for Node do not include.
 */

export interface KernelMemory {
  readonly buffer: SharedArrayBuffer;
  grow(pages: number): number;
}

/** Compiled code; can be sent to other threads. */
export interface KernelModule {
  readonly [Symbol.toStringTag]: string;
}

interface WebAssemblyApi {
  readonly Memory: new (size: { initial: number; maximum: number; shared: true }) => KernelMemory;
  readonly Instance: new (
    module: KernelModule,
    imports: { readonly env: { readonly memory: KernelMemory } },
  ) => { readonly exports: unknown };
  validate(bytes: Uint8Array): boolean;
  compile(bytes: Uint8Array): Promise<KernelModule>;
}

export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;

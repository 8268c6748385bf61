/**
 * The part of WebGPU that this folder uses, as types of its own: a page's navigator.gpu and Node's package `webgpu`
 * have it, and neither the DOM's types nor that package's are needed to compile or to use this library.
 */

export interface GpuBuffer {
  readonly size: number;
  mapAsync(mode: number): Promise<unknown>;
  getMappedRange(): ArrayBuffer;
  unmap(): void;
  destroy(): void;
}

/** A stretch of a buffer. */
export interface GpuSlice {
  readonly buffer: GpuBuffer;
  /** Bytes. */
  readonly offset: number;
  readonly size: number;
}

/** What a kernel can be given. */
export type Bound = GpuBuffer | GpuSlice;

/** Objects that are only handed back to the device. */
export type GpuObject = object;

export interface GpuPipeline {
  getBindGroupLayout(index: number): GpuObject;
}

export interface GpuComputePass {
  setPipeline(pipeline: GpuPipeline): void;
  setBindGroup(index: number, group: GpuObject): void;
  dispatchWorkgroups(x: number, y: number): void;
  end(): void;
}

export interface GpuEncoder {
  beginComputePass(): GpuComputePass;
  clearBuffer(buffer: GpuBuffer, offset: number, bytes: number): void;
  copyBufferToBuffer(from: GpuBuffer, fromOffset: number, to: GpuBuffer, offset: number, bytes: number): void;
  finish(): GpuObject;
}

export interface GpuLimits {
  readonly maxBufferSize: number;
  readonly maxStorageBufferBindingSize: number;
  readonly maxComputeWorkgroupStorageSize: number;
  readonly maxComputeInvocationsPerWorkgroup: number;
  readonly maxComputeWorkgroupSizeX: number;
  readonly maxComputeWorkgroupsPerDimension: number;
}

export interface GpuDevice {
  readonly limits: GpuLimits;
  readonly queue: {
    submit(commands: readonly GpuObject[]): void;
    writeBuffer(buffer: GpuBuffer, offset: number, data: ArrayBufferView): void;
  };
  readonly lost: Promise<{ readonly reason: string; readonly message: string }>;
  createBuffer(settings: { readonly size: number; readonly usage: number }): GpuBuffer;
  createShaderModule(settings: { readonly code: string; readonly label: string }): GpuObject;
  createComputePipeline(settings: {
    readonly layout: "auto";
    readonly label: string;
    readonly compute: { readonly module: GpuObject; readonly entryPoint: string };
  }): GpuPipeline;
  createBindGroup(settings: {
    readonly layout: GpuObject;
    readonly entries: readonly {
      readonly binding: number;
      readonly resource: { readonly buffer: GpuBuffer } | GpuSlice;
    }[];
  }): GpuObject;
  createCommandEncoder(): GpuEncoder;
  addEventListener(
    type: "uncapturederror",
    listener: (event: { readonly error: { readonly message: string } }) => void,
  ): void;
  destroy(): void;
}

export interface GpuAdapter {
  readonly info: {
    readonly vendor: string;
    readonly architecture: string;
    readonly description: string;
    readonly device: string;
    readonly isFallbackAdapter?: boolean;
    /** Threads that run together, at least. */
    readonly subgroupMinSize?: number;
  };
  readonly features?: { has(feature: string): boolean };
  readonly limits: GpuLimits;
  requestDevice(settings: {
    readonly requiredLimits: Readonly<Record<string, number>>;
    readonly requiredFeatures?: readonly string[];
  }): Promise<GpuDevice>;
}

export interface Gpu {
  requestAdapter(settings?: { readonly powerPreference: "high-performance" }): Promise<GpuAdapter | null>;
}

/** Numbers of the standard, GPUBufferUsage and GPUMapMode. */
export const USAGE = { mapRead: 1, copySource: 4, copyTarget: 8, uniform: 64, storage: 128 } as const;
export const MAP_READ = 1;

/**
 * The bindings of a backend, as `c.env` has them: types only. They are those of Cloudflare Workers, but streams,
 * headers and blobs are the ones of the standard library, so that they fit `Response` and `Request` everywhere.
 */

/** The stores of a backend by their name in `env`. A project has those that its config names. */
export interface Stores {
  DB: D1Database;
  KV: KVNamespace;
  BUCKET: R2Bucket;
}

/** `env.DB`: an SQLite database. */
export interface D1Database {
  prepare(query: string): D1PreparedStatement;
  /** Runs all statements in one transaction. */
  batch<T = unknown>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]>;
  /** Runs statements without parameters, one on each line. */
  exec(query: string): Promise<D1ExecResult>;
}

export interface D1PreparedStatement {
  /** Values of the parameters `?`, in order. */
  bind(...values: unknown[]): D1PreparedStatement;
  /** The first row, or one column of it; null without rows. */
  first<T = unknown>(column: string): Promise<T | null>;
  first<T = Record<string, unknown>>(): Promise<T | null>;
  run<T = Record<string, unknown>>(): Promise<D1Result<T>>;
  all<T = Record<string, unknown>>(): Promise<D1Result<T>>;
  /** Rows as lists of values, headed by the names of the columns on request. */
  raw<T = unknown[]>(options: { columnNames: true }): Promise<[string[], ...T[]]>;
  raw<T = unknown[]>(options?: { columnNames?: false }): Promise<T[]>;
}

export interface D1Result<T = unknown> {
  success: true;
  results: T[];
  meta: D1Meta & Record<string, unknown>;
}

export interface D1Meta {
  /** Milliseconds. */
  duration: number;
  changes: number;
  changed_db: boolean;
  last_row_id: number;
  rows_read: number;
  rows_written: number;
  /** Bytes of the database. */
  size_after: number;
}

export interface D1ExecResult {
  count: number;
  /** Milliseconds. */
  duration: number;
}

/** `env.KV`: texts and bytes by key. */
export interface KVNamespace<Key extends string = string> {
  get(key: Key, options?: "text" | KVGetOptions<"text">): Promise<string | null>;
  get<T = unknown>(key: Key, options: "json" | KVGetOptions<"json">): Promise<T | null>;
  get(key: Key, options: "arrayBuffer" | KVGetOptions<"arrayBuffer">): Promise<ArrayBuffer | null>;
  get(key: Key, options: "stream" | KVGetOptions<"stream">): Promise<ReadableStream | null>;
  getWithMetadata<M = unknown>(
    key: Key,
    options?: "text" | KVGetOptions<"text">,
  ): Promise<KVValueWithMetadata<string, M>>;
  getWithMetadata<T = unknown, M = unknown>(
    key: Key,
    options: "json" | KVGetOptions<"json">,
  ): Promise<KVValueWithMetadata<T, M>>;
  getWithMetadata<M = unknown>(
    key: Key,
    options: "arrayBuffer" | KVGetOptions<"arrayBuffer">,
  ): Promise<KVValueWithMetadata<ArrayBuffer, M>>;
  getWithMetadata<M = unknown>(
    key: Key,
    options: "stream" | KVGetOptions<"stream">,
  ): Promise<KVValueWithMetadata<ReadableStream, M>>;
  put(key: Key, value: string | ArrayBuffer | ArrayBufferView | ReadableStream, options?: KVPutOptions): Promise<void>;
  delete(key: Key): Promise<void>;
  list<M = unknown>(options?: KVListOptions): Promise<KVListResult<M, Key>>;
}

export interface KVGetOptions<Type> {
  type: Type;
  cacheTtl?: number;
}

export interface KVPutOptions {
  /** When the key ends, in seconds since 1970. */
  expiration?: number;
  /** How long the key lives, in seconds. */
  expirationTtl?: number;
  /** Any JSON that is stored with the value. */
  metadata?: unknown;
}

export interface KVValueWithMetadata<T, M> {
  value: T | null;
  metadata: M | null;
}

export interface KVListOptions {
  prefix?: string | null;
  limit?: number;
  /** That of the page before. */
  cursor?: string | null;
}

export type KVListResult<M = unknown, Key extends string = string> = {
  keys: { name: Key; expiration?: number; metadata?: M }[];
} & ({ list_complete: false; cursor: string } | { list_complete: true });

/** `env.BUCKET`: files by key. */
export interface R2Bucket {
  head(key: string): Promise<R2Object | null>;
  /** The object; without its body where a condition is not met. */
  get(key: string, options: R2GetOptions & { onlyIf: R2Conditional | Headers }): Promise<R2ObjectBody | R2Object | null>;
  get(key: string, options?: R2GetOptions): Promise<R2ObjectBody | null>;
  /** The stored object; null where a condition is not met. */
  put(key: string, value: R2Value, options: R2PutOptions & { onlyIf: R2Conditional | Headers }): Promise<R2Object | null>;
  put(key: string, value: R2Value, options?: R2PutOptions): Promise<R2Object>;
  delete(keys: string | string[]): Promise<void>;
  list(options?: R2ListOptions): Promise<R2Objects>;
  createMultipartUpload(key: string, options?: R2MultipartOptions): Promise<R2MultipartUpload>;
  resumeMultipartUpload(key: string, uploadId: string): R2MultipartUpload;
}

export type R2Value = ReadableStream | ArrayBuffer | ArrayBufferView | string | Blob | null;

export interface R2Object {
  readonly key: string;
  readonly version: string;
  /** Bytes. */
  readonly size: number;
  readonly etag: string;
  /** The etag in quotes, as the header has it. */
  readonly httpEtag: string;
  readonly checksums: R2Checksums;
  readonly uploaded: Date;
  readonly httpMetadata?: R2HttpMetadata;
  readonly customMetadata?: Record<string, string>;
  readonly range?: R2Range;
  readonly storageClass: string;
  /** Writes `httpMetadata` into headers. */
  writeHttpMetadata(headers: Headers): void;
}

export interface R2ObjectBody extends R2Object {
  readonly body: ReadableStream;
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  json<T = unknown>(): Promise<T>;
  blob(): Promise<Blob>;
}

export interface R2Objects {
  objects: R2Object[];
  /** Common beginnings up to the delimiter. */
  delimitedPrefixes: string[];
  /** Whether there are more. */
  truncated: boolean;
  /** For the next page, where there is one. */
  cursor?: string;
}

export type R2Range = { offset: number; length?: number } | { offset?: number; length: number } | { suffix: number };

export interface R2Conditional {
  etagMatches?: string;
  etagDoesNotMatch?: string;
  uploadedBefore?: Date;
  uploadedAfter?: Date;
}

export interface R2GetOptions {
  onlyIf?: R2Conditional | Headers;
  range?: R2Range | Headers;
}

export interface R2MultipartOptions {
  httpMetadata?: R2HttpMetadata | Headers;
  customMetadata?: Record<string, string>;
}

export interface R2PutOptions extends R2MultipartOptions {
  onlyIf?: R2Conditional | Headers;
  md5?: ArrayBuffer | string;
  sha1?: ArrayBuffer | string;
  sha256?: ArrayBuffer | string;
  sha384?: ArrayBuffer | string;
  sha512?: ArrayBuffer | string;
}

export interface R2ListOptions {
  prefix?: string;
  limit?: number;
  cursor?: string;
  delimiter?: string;
  startAfter?: string;
  /** Which metadata the objects have. */
  include?: ("httpMetadata" | "customMetadata")[];
}

export interface R2HttpMetadata {
  contentType?: string;
  contentLanguage?: string;
  contentDisposition?: string;
  contentEncoding?: string;
  cacheControl?: string;
  cacheExpiry?: Date;
}

export interface R2Checksums {
  readonly md5?: ArrayBuffer;
  readonly sha1?: ArrayBuffer;
  readonly sha256?: ArrayBuffer;
  readonly sha384?: ArrayBuffer;
  readonly sha512?: ArrayBuffer;
}

export interface R2MultipartUpload {
  readonly key: string;
  readonly uploadId: string;
  uploadPart(partNumber: number, value: R2Value & {}): Promise<R2UploadedPart>;
  abort(): Promise<void>;
  complete(parts: R2UploadedPart[]): Promise<R2Object>;
}

export interface R2UploadedPart {
  partNumber: number;
  etag: string;
}

/** `env.SELF` and `env.LYCEUM`: routes of the project, or of the platform, by their path. */
export interface Service {
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
}

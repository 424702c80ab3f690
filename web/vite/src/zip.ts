import { crc32, deflateRawSync } from "node:zlib";

/** A file in an archive. */
export interface Entry {
  /** With `/` between folders. */
  name: string;
  bytes: Buffer;
}

/** 1980-01-01, the first day that the format knows: the same files make the same archive. */
const DATE = (1 << 5) | 1;
const UTF8 = 1 << 11;
const MAX_BYTES = 0xffff_ffff;
const MAX_FILES = 0xffff;

/** Packs files in the order given (APPNOTE 6.3.10 without ZIP64); the first is stored as it is. */
export function zip(entries: Entry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [index, { name, bytes }] of entries.entries()) {
    const packed = deflateRawSync(bytes, { level: 9 });
    const deflates = index > 0 && packed.length < bytes.length;
    const data = deflates ? packed : bytes;
    const path = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(UTF8, 2);
    common.writeUInt16LE(deflates ? 8 : 0, 4);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(path.length, 22);
    parts.push(signature(0x0403_4b50), common, path, data);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((0o100644 << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    // Made by UNIX, so that the permissions count.
    directory.push(signature(0x0201_4b50), Buffer.from([20, 3]), common, rest, path);
    offset += 30 + path.length + data.length;
    if (offset > MAX_BYTES || index >= MAX_FILES)
      throw new Error(`the build has more than ${MAX_FILES} files or 4 GiB`);
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, listed, signature(0x0605_4b50), end]);
}

/** The first file of an archive made by {@link zip}. */
export function first(archive: Buffer): Buffer {
  const start = 30 + archive.readUInt16LE(26) + archive.readUInt16LE(28);
  return archive.subarray(start, start + archive.readUInt32LE(18));
}

function signature(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}

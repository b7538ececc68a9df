import { execFileSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'

/** Packs a folder with tar, so that the same content gives the same bytes: files of root, in order, with one time. */
export const packFolder = (folder: string, seconds: number): Buffer =>
  execFileSync(
    'tar',
    [
      ...['--create', '--format=ustar', '--sort=name', '--owner=0', '--group=0', '--numeric-owner'],
      ...[`--mtime=@${seconds}`, '--directory', folder, '.'],
    ],
    { maxBuffer: 2 ** 30 },
  )

/** Compresses bytes with gzip, whose header has no time here. */
export const compress = (bytes: Uint8Array): Buffer => gzipSync(bytes)

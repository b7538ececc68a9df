import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noise } from '../../lib/packs/chunk-store/bytes.ts'

const mebibyte = 1024 * 1024
const mkfs = ['/usr/sbin/mkfs.ext4', '/sbin/mkfs.ext4'].find(path => existsSync(path))

/**
 * An ext4 file system of 1 GiB with 600 MiB of noise and 10 MB of text in files, or of `times` as much; without mkfs.ext4 the
 * noise alone.
 */
export const makeImage = (folder: string, times = 1): { readonly image: string; readonly size: number } => {
  const image = join(folder, 'disk.img')
  const files = join(folder, 'files')
  const size = times * 1024 * mebibyte
  mkdirSync(files)
  for (let file = 0; file < 75 * times; file += 1)
    writeFileSync(join(files, `noise-${file}`), noise(8 * mebibyte, file))
  for (let file = 0; file < 20 * times; file += 1)
    writeFileSync(join(files, `text-${file}`), Buffer.alloc(500_000 + file, `text ${file} `))
  if (mkfs) execFileSync(mkfs, ['-q', '-d', files, image, String(size / 1024)])
  else {
    for (let file = 0; file < 75 * times; file += 1)
      writeFileSync(image, readFileSync(join(files, `noise-${file}`)), { flag: 'a' })
    truncateSync(image, size)
  }
  rmSync(files, { recursive: true })
  return { image, size }
}

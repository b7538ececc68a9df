import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noise } from '../lib/catalog/chunks/bytes.ts'

const mebibyte = 1024 * 1024
const mkfs = ['/usr/sbin/mkfs.ext4', '/sbin/mkfs.ext4'].find(path => existsSync(path))

/** Bytes of an image. */
export const imageSize = 1024 * mebibyte

/** An ext4 file system with 600 MiB of noise and 10 MB of text in files; without mkfs.ext4 the noise alone. Gives its path. */
export const makeImage = (folder: string): string => {
  const image = join(folder, 'disk.img')
  const files = join(folder, 'files')
  mkdirSync(files)
  for (let file = 0; file < 75; file += 1) writeFileSync(join(files, `noise-${file}`), noise(8 * mebibyte, file))
  for (let file = 0; file < 20; file += 1)
    writeFileSync(join(files, `text-${file}`), Buffer.alloc(500_000 + file, `text ${file} `))
  if (mkfs) execFileSync(mkfs, ['-q', '-d', files, image, String(imageSize / 1024)])
  else {
    for (let file = 0; file < 75; file += 1)
      writeFileSync(image, readFileSync(join(files, `noise-${file}`)), { flag: 'a' })
    truncateSync(image, imageSize)
  }
  rmSync(files, { recursive: true })
  return image
}

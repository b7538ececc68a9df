import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../../programs.ts'

const sectorSize = 512
const mebibyte = 2 ** 20
/** Where the only partition begins. The boot loader is in front of it. */
const partitionStart = mebibyte

/** Builds the partition table with one Linux partition that is booted from. It begins at byte 446 of the first sector. */
const buildPartitionTable = (size: number): Buffer => {
  const table = Buffer.alloc(66)
  table[0] = 0x80
  // Cylinders, heads and sectors are out of their bounds: the numbers of sectors count.
  table.fill(0xff, 1, 4)
  table[4] = 0x83
  table.fill(0xff, 5, 8)
  table.writeUInt32LE(partitionStart / sectorSize, 8)
  table.writeUInt32LE(size / sectorSize, 12)
  table.writeUInt16LE(0xaa55, 64)
  return table
}

/**
 * Writes a raw disk that boots by BIOS: the folder `root` as an ext4 file system with the label `root`, and the GRUB that is
 * installed in it. GRUB's first sector expects its core in the sectors that follow.
 */
export const writeBootDisk = (disk: string, root: string, partitionSize: number): void => {
  const core = '/boot/core.img'
  const modules = ['biosdisk', 'part_msdos', 'ext2', 'normal', 'linux']
  const grub = ['grub-mkimage', '-O', 'i386-pc', '-o', core, '-p', '(hd0,msdos1)/boot/grub', ...modules]
  execFileSync('chroot', [root, ...grub])
  const firstSector = readFileSync(join(root, 'usr/lib/grub/i386-pc/boot.img')).subarray(0, 446)

  const mkfs = findProgram('mke2fs', ['/usr/sbin', '/sbin'])
  if (mkfs === undefined) throw new Error('mke2fs is not installed')
  // GRUB of Debian 12 does not know these two features.
  const features = ['-O', '^metadata_csum_seed,^orphan_file', '-E', `offset=${partitionStart}`]
  execFileSync(mkfs, ['-q', '-t', 'ext4', '-L', 'root', ...features, '-d', root, disk, `${partitionSize / 1024}k`])
  truncateSync(disk, partitionStart + partitionSize)
  const file = openSync(disk, 'r+')
  const start = Buffer.concat([firstSector, buildPartitionTable(partitionSize), readFileSync(join(root, core))])
  writeSync(file, start, 0, start.length, 0)
  closeSync(file)
}

import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type DiskFacts, targetClusterSize } from '../formats/facts.ts'

/** What a conversion may use, at most. */
export interface ResourceLimits {
  /** Bytes of address space. */
  readonly memory: number
  /** Seconds of processor time. */
  readonly processorTime: number
  /** Bytes of the new image. */
  readonly outputSize: number
  /** True if the free space of the host limits the output, and not the content of the image. */
  readonly isLimitedBySpace: boolean
}

/** qemu-img has up to 64 threads with stacks of 8 MB; what it really uses is a tenth of this. */
const memory = 2 ** 31
/** Seconds of processor time. Even a slow host decompresses and reads zeros faster than so many bytes per second. */
const baseTime = 300
const dataPerSecond = 4 * 2 ** 20
const zerosPerSecond = 2 ** 30
/** The part of the free space that a conversion may use: the host has other work. */
const usableShare = 0.9
/** Bytes of an image without content: header, tables of reference counts. */
const fixedSize = 4 * 2 ** 20

/**
 * Returns the largest size of an image with this content. A level 2 table of one cluster serves 512 MB of the disk, and reference
 * counts need 2 bytes per cluster, so this counts twice what is needed.
 */
const computeLargestOutput = ({ virtualSize, dataSize }: DiskFacts): number => {
  const tables = Math.ceil(virtualSize / (targetClusterSize * 8192)) * targetClusterSize
  return fixedSize + dataSize + 2 * (Math.min(tables, dataSize) + dataSize / 4096 + virtualSize / 2 ** 26)
}

/** Computes what the conversion of a disk into a file at `target` may use. */
export const computeLimits = async (facts: DiskFacts, target: string): Promise<ResourceLimits> => {
  const { bavail, bsize } = await statfs(dirname(target))
  const usable = Math.floor(bavail * bsize * usableShare)
  const largest = Math.ceil(computeLargestOutput(facts))
  const processorTime = Math.ceil(baseTime + facts.dataSize / dataPerSecond + facts.virtualSize / zerosPerSecond)
  return { memory, processorTime, outputSize: Math.min(usable, largest), isLimitedBySpace: usable < largest }
}

/** Limits the arenas of glibc: without this, each thread of qemu-img reserves 64 MB of address space. */
export const limitedEnvironment = { MALLOC_ARENA_MAX: '2' }

/** Returns a program and its arguments such that it runs within these limits. Only Linux has the program that sets them. */
export const limitCommand = (
  { memory, processorTime, outputSize }: ResourceLimits,
  [program, ...args]: readonly [string, ...string[]],
): readonly [program: string, args: readonly string[]] =>
  process.platform === 'linux'
    ? [
        'prlimit',
        [
          `--as=${memory}`,
          `--cpu=${processorTime}`,
          `--fsize=${outputSize}`,
          '--nofile=64',
          '--core=0',
          '--',
          program,
          ...args,
        ],
      ]
    : [program, args]

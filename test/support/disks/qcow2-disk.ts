import { link, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess } from '#lib/platform/processes.ts'
import { until } from '../waiting.ts'

const run = async (program: string, ...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await runProcess(program, args, { timeout: 60_000 })
  if (code !== 0) throw new Error(stderr || stdout)
  return stdout
}
const unit = 65_536

/** Fills places of a disk, in units of 64 KiB, with one byte, as its guest would. */
export const writePattern = async (disk: string, place: number, byte: number, places = 1): Promise<void> => {
  await run('qemu-io', '-f', 'qcow2', '-c', `write -P ${byte} ${place * unit} ${places * unit}`, disk)
}

/** The first byte at each of these places. */
export const readPatterns = async (disk: string, places: readonly number[]): Promise<readonly number[]> => {
  const commands = places.flatMap(place => ['-c', `read -v ${place * unit} 1`])
  const text = await run('qemu-io', '-r', '-f', 'qcow2', ...commands, disk)
  return [...text.matchAll(/^[0-9a-f]{8}: +([0-9a-f]{2})/gm)].map(([, byte]) => Number.parseInt(byte!, 16))
}

/**
 * How many images a disk is made of, also if a machine runs with it. QEMU may then be writing the header that qemu-img reads in two
 * parts, so a first reading may find a name that is none.
 */
export const imageLayers = (disk: string): Promise<number> =>
  until(async () => JSON.parse(await run('qemu-img', 'info', '-U', '--output=json', '--backing-chain', disk)).length)

/** One more layer on the disk of a machine, as earlier versions made one for each linked clone. */
export const freezeByHand = async (home: string): Promise<void> => {
  const [disk, base] = [join(home, 'disk0.qcow2'), join(home, `base-${crypto.randomUUID()}.qcow2`)]
  await link(disk, base)
  await run('qemu-img', 'create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', base, `${disk}.new`)
  await rename(`${disk}.new`, disk)
}

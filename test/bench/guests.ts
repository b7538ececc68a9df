import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildBootSectorDisk } from '../support/guests/boot-sector.ts'
import { rangesOf, startFileServer } from '../support/servers/file-server.ts'
import { type Ask, askAs } from './ask.ts'
import { createBareMachines, type StartBareMachine, waitForText } from './bare-qemu.ts'
import { median } from './load.ts'
import { startVmhost } from './processes.ts'
import { differenceRow, type Row } from './table.ts'

const password = 'Correct-Horse-9-Battery'
const rounds = 9
const parallel = 10

/** Machines that boot at once from a registered image of a sector. */
interface Bench {
  readonly ask: Ask
  readonly startBare: StartBareMachine
  /** The file of the image. */
  readonly image: string
  readonly folder: string
}

const firstLine = 'BOOT 00000001'

/** A machine whose guest has printed a line. */
interface TimedMachine {
  /** Milliseconds from its creation to that line. */
  readonly taken: number
  readonly remove: () => Promise<unknown>
}

/** Creates a machine over the service and starts it. */
const timeMachine = async ({ ask }: Bench, name: string): Promise<TimedMachine> => {
  const begun = performance.now()
  await ask('POST', '/machines', { name, memory: 16, image: 'sector' })
  await ask('PUT', `/machines/${name}/start`)
  const [view] = await ask<readonly { readonly Home: string }[]>('GET', `/machines/${name}`)
  await waitForText(join(view!.Home, 'serial.log'), firstLine)
  return { taken: performance.now() - begun, remove: () => ask('DELETE', `/machines/${name}?force=true`) }
}

/** Does the same with QEMU alone. */
const timeBareMachine = async ({ startBare, image, folder }: Bench, name: string): Promise<TimedMachine> => {
  const home = join(folder, name)
  const begun = performance.now()
  const machine = await startBare(home, image)
  await waitForText(machine.serialLog, firstLine)
  const taken = performance.now() - begun
  const remove = async (): Promise<void> => {
    await machine.stop()
    rmSync(home, { recursive: true })
  }
  return { taken, remove }
}

/** Milliseconds until all of so many machines have printed a line. */
const timeAll = async (count: number, time: (name: string) => Promise<TimedMachine>): Promise<number> => {
  const all = await Promise.all(Array.from({ length: count }, (_, at) => time(`machine-${at}`)))
  await Promise.all(all.map(({ remove }) => remove()))
  return Math.max(...all.map(({ taken }) => taken))
}

const measure = async (bench: Bench, count: number): Promise<{ measured: number; floor: number }> => {
  const taken = { vmhost: [] as number[], bare: [] as number[] }
  for (let round = 0; round <= rounds; round += 1) {
    const vmhost = await timeAll(count, name => timeMachine(bench, name))
    const bare = await timeAll(count, name => timeBareMachine(bench, name))
    // The first round fills caches.
    if (round === 0) continue
    taken.vmhost.push(vmhost)
    taken.bare.push(bare)
  }
  return { measured: median(taken.vmhost), floor: median(taken.bare) }
}

/** How long a machine of an image takes to its first output, against `qemu-img create -b` and QEMU with the same hardware. */
export const guestStartRows = async (): Promise<readonly Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-bench-'))
  await using files = await startFileServer()
  buildBootSectorDisk(join(folder, 'sector.img'))
  files.serve('/sector.img', rangesOf(readFileSync(join(folder, 'sector.img'))))
  const server = await startVmhost(join(folder, 'state'), {
    VMHOST_ROOT_PASSWORD: password,
    VMHOST_DRIVER: 'qemu',
    VMHOST_OUTGOING_ADDRESSES: '127.0.0.1',
  })
  const ask = await askAs(server, password)
  try {
    const { digest } = await ask<{ digest: string }>('POST', '/images', {
      name: 'sector',
      url: `${files.url}/sector.img`,
    })
    // The recorder runs as long as a machine does. A host with machines has it.
    await ask('POST', '/machines', { name: 'template', memory: 16, image: 'sector' })
    await ask('PUT', '/machines/template/start')
    const [{ Home: home }] = await ask<[{ Home: string }]>('GET', '/machines/template')
    const template = Number(readFileSync(join(home, 'qemu.pid'), 'utf8'))
    const image = join(folder, 'state', 'images', `${digest}.qcow2`)
    const bench: Bench = { ask, startBare: createBareMachines(template), image, folder }
    const unit = { unit: 'ms', digits: 0 }
    return [
      differenceRow('a machine of an image, to its first output', { ...unit, ...(await measure(bench, 1)) }, 50),
      differenceRow(`the last of ${parallel} at once`, { ...unit, ...(await measure(bench, parallel)) }, 50 * parallel),
    ]
  } finally {
    await ask('DELETE', '/machines/template?force=true')
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

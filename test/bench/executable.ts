import { rmSync } from 'node:fs'
import { median } from './load.ts'
import { processorTime, type Server, startExecutable, startVmhost } from './processes.ts'
import { stateWith } from './state.ts'
import { ratioRow, type Row } from './table.ts'

const rounds = 31

/** Milliseconds of processor time that a program uses up to its first reply. */
const timeOfStart = async (start: () => Promise<Server>): Promise<number> => {
  const server = await start()
  await (await fetch(`http://127.0.0.1:${server.port}/api/health/probe`)).arrayBuffer()
  const taken = processorTime(server.pid) / 1_000
  await server.stop()
  return taken
}

/** What a start of the single executable costs beside one of the bundle, on the same state folder, by turns. */
export const executableRow = async (): Promise<Row> => {
  const state = stateWith(0)
  try {
    const taken = { executable: [] as number[], bundle: [] as number[] }
    for (let round = 0; round <= rounds; round += 1) {
      const bundle = await timeOfStart(() => startVmhost(state))
      const executable = await timeOfStart(() => startExecutable(state))
      // The first start makes the key and fills caches.
      if (round === 0) continue
      taken.bundle.push(bundle)
      taken.executable.push(executable)
    }
    return ratioRow(
      'start of the executable, beside the bundle',
      { measured: median(taken.executable), floor: median(taken.bundle), unit: 'ms CPU', digits: 0 },
      { most: 1.1 },
    )
  } finally {
    rmSync(state, { recursive: true })
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { cursorText } from '#lib/events/cursor.ts'
import { openEvents } from '#lib/events/events.ts'
import { openStore } from '#lib/storage/open-store.ts'
import { processorTime, residentMemory, type Server, startBareSockets, startVmhost } from './processes.ts'
import { stateWith } from './state.ts'
import { differenceRow, ratioRow, type Row } from './table.ts'

const password = 'Correct-Horse-9-Battery'
const listeners = 2_000
const idle = 10_000
const rate = 20
const events = 100
const replayed = 100_000

interface Listeners {
  count(): Promise<number>
  stop(): void
}

const nextLine = (lines: Interface): Promise<string> => new Promise(settle => lines.once('line', settle))

const listen = async (port: number, path: string, count: number, token: string): Promise<Listeners> => {
  const child: ChildProcess = spawn(
    process.execPath,
    [resolve('test/bench/listeners.ts'), `ws://127.0.0.1:${port}${path}`, String(count), token],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: child.stdout! })
  await nextLine(lines)
  return {
    async count() {
      const line = nextLine(lines)
      child.stdin!.write('\n')
      return Number(await line)
    },
    stop: () => void child.kill('SIGKILL'),
  }
}

/** Tells so many events at a steady rate; gives the server's processor µs for each frame, and how many frames came. */
const fanOut = async (server: Server, crowd: Listeners, tell: (at: number) => Promise<unknown>) => {
  const [before, had] = [processorTime(server.pid), await crowd.count()]
  for (let at = 0; at < events; at += 1) await Promise.all([tell(at), wait(1000 / rate)])
  await wait(1_000)
  const frames = (await crowd.count()) - had
  return { frames, microseconds: (processorTime(server.pid) - before) / frames }
}

const signIn = async (port: number): Promise<string> => {
  const reply = await fetch(`http://127.0.0.1:${port}/api/v1/auth/token`, {
    method: 'POST',
    body: JSON.stringify({ email: 'root', password }),
  })
  return ((await reply.json()) as { token: string }).token
}

const socketRows = async (): Promise<readonly Row[]> => {
  const state = stateWith(0)
  const [bare, vmhost] = await Promise.all([
    startBareSockets(),
    startVmhost(state, {
      VMHOST_ROOT_PASSWORD: password,
      VMHOST_SUBSCRIPTIONS: '20000',
      VMHOST_SUBSCRIPTIONS_PER_USER: '20000',
    }),
  ])
  try {
    const token = await signIn(vmhost.port)
    const path = '/api/v1/ws/subscribe?event_types=auth'
    const empty = residentMemory(vmhost.pid)
    const crowd = await listen(vmhost.port, path, listeners, token)
    const ours = await fanOut(vmhost, crowd, at =>
      fetch(`http://127.0.0.1:${vmhost.port}/api/v1/auth/claims`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({ name: `C${at}` }),
      }),
    )
    crowd.stop()
    const frame = JSON.stringify({
      id: 'f'.repeat(64),
      event_type: 'auth',
      timestamp: new Date().toISOString(),
      message: 'CLAIM_ADDED',
      body: { claim_id: 'C1' },
      seq: 1,
      cursor: '00000000-1',
    })
    const bareCrowd = await listen(bare.port, '/', listeners, '')
    const theirs = await fanOut(bare, bareCrowd, () =>
      fetch(`http://127.0.0.1:${bare.port}/`, { method: 'POST', body: frame }),
    )
    bareCrowd.stop()
    await wait(1_000)
    const quiet = await listen(vmhost.port, '/api/v1/ws/subscribe', idle, token)
    await wait(2_000)
    const each = ((residentMemory(vmhost.pid) - empty) * 1024) / idle
    quiet.stop()
    return [
      ratioRow(
        `events to ${listeners} WebSockets, each frame`,
        { measured: ours.microseconds, floor: theirs.microseconds, unit: 'µs CPU' },
        { most: 1.25 },
      ),
      ratioRow(
        'the same: frames that came of those that were told',
        { measured: ours.frames, floor: events * listeners, unit: '', digits: 0 },
        { least: 1 },
      ),
      differenceRow(`memory of each of ${idle} idle WebSockets`, { measured: each, floor: 0, unit: 'KB' }, 30),
    ]
  } finally {
    await Promise.all([bare.stop(), vmhost.stop()])
    rmSync(state, { recursive: true })
  }
}

const replayRow = async (): Promise<Row> => {
  const folder = stateWith(0)
  try {
    await using store = await openStore({ folder })
    const log = await openEvents(store, { keep: { days: 7, entries: 2 * replayed } })
    for (let made = 0; made < replayed; made += 1_000)
      await store.commit(
        Array.from({ length: 1_000 }, (_, at) =>
          log.tell({
            type: 'pdfm',
            message: 'VM_STATE_CHANGED',
            body: { vm_id: `${made + at}`, previous_state: 'stopped', current_state: 'running' },
            audience: { claims: ['LIST_VM'] },
          }),
        ),
      )
    const reader = { id: 'r', username: 'r', email: '', roles: [], claims: new Set(['LIST_VM']), superUser: false }
    const begun = performance.now()
    let at = log.place(undefined).at
    let count = 0
    for (;;) {
      const { messages, next } = log.read(at, { types: new Set(['pdfm']), principal: reader }, 1_000)
      if (messages.length === 0) break
      count += messages.map(message => JSON.stringify(message)).length
      at = next
    }
    const taken = performance.now() - begun
    log.close()
    if (count !== replayed) throw new Error(`${count} of ${replayed} events came, up to ${cursorText(at)}`)
    return differenceRow(`replay of ${replayed} events`, { measured: taken, floor: 0, unit: 'ms', digits: 0 }, 1_500)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export const eventRows = async (): Promise<readonly Row[]> => [...(await socketRows()), await replayRow()]

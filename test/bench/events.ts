import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { every } from '#lib/async/every.ts'
import { formatCursor } from '#lib/events/cursor.ts'
import { openEvents } from '#lib/events/events.ts'
import { openStore } from '#lib/storage/open-store.ts'
import { familyMemory, familyTime, type Server, startBareSockets, startVmhost } from './processes.ts'
import { stateWith } from './state.ts'
import { differenceRow, ratioRow, type Row } from './table.ts'

const password = 'Correct-Horse-9-Battery'
const listeners = 2_000
/** Connections that a process can have are few on many hosts, and those to a process apart count twice. */
const idle = { process: 9_500, inline: 10_000 }
const rate = 20
const events = 100
const replayed = 100_000
/** Readers that stop, readers beside them, and events that pile up. */
const readers = 20
const piled = 16_000
/** Characters of each: what the system keeps of a connection is some megabytes, and they have to be more. */
const nameLength = 120

type Tell = (name: string) => Promise<unknown>

interface Listeners {
  count(): Promise<number>
  stop(): void
}

const nextLine = (lines: Interface): Promise<string> => new Promise(settle => lines.once('line', settle))

const listen = async (port: number, path: string, count: number, token: string, how = ''): Promise<Listeners> => {
  const child: ChildProcess = spawn(
    process.execPath,
    [resolve('test/bench/listeners.ts'), `ws://127.0.0.1:${port}${path}`, String(count), token, how],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: child.stdout! })
  const gone = new Promise<never>((_, reject) =>
    child.once('exit', code => reject(new Error(`the listeners ended with ${code}`))),
  )
  gone.catch(() => {})
  await Promise.race([nextLine(lines), gone])
  return {
    async count() {
      const line = nextLine(lines)
      child.stdin!.write('\n')
      return Number(await Promise.race([line, gone]))
    },
    stop: () => void child.kill('SIGKILL'),
  }
}

/** Tells so many events at a steady rate; gives the processor µs for each frame, and how many frames came. */
const steady = async ({ pid }: Server, crowd: Listeners, tell: Tell) => {
  const [before, had] = [familyTime(pid), await crowd.count()]
  for (let at = 0; at < events; at += 1) await Promise.all([tell(`steady${at}`), wait(1000 / rate)])
  await wait(1_000)
  const frames = (await crowd.count()) - had
  return { frames, microseconds: (familyTime(pid) - before) / frames }
}

/** Tells so many events as fast as it goes; gives the frames that come in a second. */
const burst = async (crowd: Listeners, tell: Tell): Promise<number> => {
  const had = await crowd.count()
  const begun = performance.now()
  await Promise.all(Array.from({ length: events }, (_, at) => tell(`burst${at}`)))
  while ((await crowd.count()) - had < events * listeners) await wait(20)
  return (events * listeners * 1000) / (performance.now() - begun)
}

const signIn = async (port: number): Promise<string> => {
  const reply = await fetch(`http://127.0.0.1:${port}/api/v1/auth/token`, {
    method: 'POST',
    body: JSON.stringify({ email: 'root', password }),
  })
  return ((await reply.json()) as { token: string }).token
}

const subscribe = '/api/v1/ws/subscribe?event_types=auth'

const askVmhost = ({ port }: Server, token: string) => {
  const headers = { authorization: `Bearer ${token}` }
  return (method: string, path: string, body?: object) =>
    fetch(`http://127.0.0.1:${port}/api/v1/auth/claims${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    }).then(reply => reply.text())
}

/** One event. */
const tellVmhost = (server: Server, token: string): Tell => {
  const ask = askVmhost(server, token)
  return name => ask('POST', '', { name })
}

/** Two events, which leave nothing behind. */
const tellTwice = (server: Server, token: string): Tell => {
  const ask = askVmhost(server, token)
  return async name => {
    await ask('POST', '', { name })
    await ask('DELETE', `/${name}`)
  }
}

const frame = JSON.stringify({
  id: 'f'.repeat(64),
  event_type: 'auth',
  timestamp: new Date().toISOString(),
  message: 'CLAIM_ADDED',
  body: { claim_id: 'STEADY1' },
  seq: 1,
  cursor: '00000000-1',
})

interface Fanned {
  readonly frames: number
  readonly microseconds: number
  readonly rate: number
}

const fanOut = async (server: Server, path: string, token: string, tell: Tell): Promise<Fanned> => {
  const crowd = await listen(server.port, path, listeners, token)
  try {
    return { ...(await steady(server, crowd, tell)), rate: await burst(crowd, tell) }
  } finally {
    crowd.stop()
    await wait(1_000)
  }
}

const bareFanOut = async (): Promise<Fanned> => {
  const bare = await startBareSockets()
  try {
    return await fanOut(bare, '/', '', () =>
      fetch(`http://127.0.0.1:${bare.port}/`, { method: 'POST', body: frame }).then(reply => reply.text()),
    )
  } finally {
    await bare.stop()
  }
}

/** Readers that stop: what waits in memory for each while events pile up behind it, and what the others get meanwhile. */
const stoppedRows = async (mode: string, server: Server, token: string): Promise<readonly Row[]> => {
  const tell = tellTwice(server, token)
  const quick = await listen(server.port, subscribe, readers, token)
  const alone = await behind(quick, readers, tell, 'alone')
  const stopped = await listen(server.port, subscribe, readers, token, 'stopped')
  const beside = await behind(quick, readers, tell, 'beside')
  const reply = await fetch(`http://127.0.0.1:${server.port}/api/v1/ws/clients`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const waiting = ((await reply.json()) as { queue_depth: number }[]).map(client => client.queue_depth)
  stopped.stop()
  quick.stop()
  return [
    differenceRow(
      `${mode}: bytes that wait in memory for a reader that stopped, at most`,
      { measured: Math.max(...waiting) / 1024, floor: 0, unit: 'KB' },
      1_100,
    ),
    ratioRow(
      'the same: events a second that the others get',
      { measured: beside, floor: alone, unit: '/s', digits: 0 },
      { least: 0.8 },
    ),
  ]
}

/** Events a second that every one of a crowd gets. */
const behind = async (crowd: Listeners, size: number, tell: Tell, name: string): Promise<number> => {
  const had = await crowd.count()
  const begun = performance.now()
  for (let at = 0; at < piled; at += 40)
    await Promise.all(Array.from({ length: 20 }, (_, one) => tell(`${name}${at + one}`.padEnd(nameLength, 'X'))))
  while ((await crowd.count()) - had < piled * size) await wait(5)
  return (piled * 1000) / (performance.now() - begun)
}

const modeRows = async (mode: 'process' | 'inline', floor: Fanned): Promise<readonly Row[]> => {
  const state = stateWith(0)
  const vmhost = await startVmhost(state, {
    VMHOST_ROOT_PASSWORD: password,
    VMHOST_EVENTS: mode,
    VMHOST_SUBSCRIPTIONS: '20000',
    VMHOST_SUBSCRIPTIONS_PER_USER: '20000',
  })
  try {
    const token = await signIn(vmhost.port)
    const ours = await fanOut(vmhost, subscribe, token, tellVmhost(vmhost, token))
    const empty = familyMemory(vmhost.pid)
    const quiet = await listen(vmhost.port, subscribe, idle[mode], token)
    await wait(2_000)
    const each = ((familyMemory(vmhost.pid) - empty) * 1024) / idle[mode]
    quiet.stop()
    await wait(1_000)
    return [
      ratioRow(
        `${mode}: events to ${listeners} WebSockets, each frame`,
        { measured: ours.microseconds, floor: floor.microseconds, unit: 'µs CPU' },
        { most: 1.25 },
      ),
      ratioRow(
        'the same: frames a second, as fast as it goes',
        { measured: ours.rate, floor: floor.rate, unit: '/s', digits: 0 },
        { least: 0.8 },
      ),
      ratioRow(
        `the same: frames that came of those that were told at ${rate}/s`,
        { measured: ours.frames, floor: events * listeners, unit: '', digits: 0 },
        { least: 1 },
      ),
      differenceRow(
        `the same: memory of each of ${idle[mode]} idle WebSockets`,
        { measured: each, floor: 0, unit: 'KB' },
        30,
      ),
      ...(await stoppedRows(mode, vmhost, token)),
    ]
  } finally {
    await vmhost.stop()
    rmSync(state, { recursive: true })
  }
}

const replayRow = async (): Promise<Row> => {
  const folder = stateWith(0)
  try {
    await using store = await openStore({ folder })
    const log = await openEvents(store, { every, retention: { days: 7, entries: 2 * replayed } })
    for (let made = 0; made < replayed; made += 1_000)
      await store.commit(
        Array.from({ length: 1_000 }, (_, at) =>
          log.publish({
            type: 'pdfm',
            message: 'VM_STATE_CHANGED',
            body: { vm_id: `${made + at}`, previous_state: 'stopped', current_state: 'running' },
            audience: { claims: ['LIST_VM'] },
          }),
        ),
      )
    const reader = { id: 'r', username: 'r', email: '', roles: [], claims: new Set(['LIST_VM']), superUser: false }
    const begun = performance.now()
    let at = log.resolveCursor(undefined).cursor
    let count = 0
    for (;;) {
      const { messages, next } = log.read(at, { types: new Set(['pdfm']), principal: reader }, 1_000)
      if (messages.length === 0) break
      count += messages.map(message => JSON.stringify(message)).length
      at = next
    }
    const taken = performance.now() - begun
    log.close()
    if (count !== replayed) throw new Error(`${count} of ${replayed} events came, up to ${formatCursor(at)}`)
    return differenceRow(`replay of ${replayed} events`, { measured: taken, floor: 0, unit: 'ms', digits: 0 }, 1_500)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export const eventRows = async (): Promise<readonly Row[]> => {
  const floor = await bareFanOut()
  return [...(await modeRows('process', floor)), ...(await modeRows('inline', floor)), await replayRow()]
}

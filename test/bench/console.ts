import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { startVmhost } from './processes.ts'
import { limitRow, type Row } from './table.ts'

const password = 'Correct-Horse-9-Battery'
const readers = 100
const echoes = 500
/** The most milliseconds until 99 of 100 keys are back at all readers. */
const mostMilliseconds = 20

/** A multiboot kernel that does nothing but echo its serial line, so that the time is that of the way and not of the guest. */
const echoKernel = (): Uint8Array => {
  const code = [0x66, 0xba, 0xfd, 0x03, 0xec, 0xa8, 0x01, 0x74, 0xfb, 0x66, 0xba, 0xf8, 0x03, 0xec, 0xee, 0xeb, 0xef]
  const [magic, flags, at, headerSize] = [0x1badb002, 0x10000, 0x100000, 32]
  const end = at + headerSize + code.length
  const header = new Uint32Array([magic, flags, -(magic + flags), at, at, end, end, at + headerSize])
  return Buffer.concat([Buffer.from(header.buffer), Buffer.from(code)])
}

/** A reader that resolves at the byte that it waits for. */
const openReader = async (url: string, token: string) => {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
  let onByte = (_byte: number): void => {}
  socket.on('message', (data: Buffer, isBinary: boolean) => isBinary && onByte(data.at(-1)!))
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  return {
    socket,
    next: (byte: number): Promise<void> =>
      new Promise(resolve => {
        onByte = found => found === byte && resolve()
      }),
  }
}

type Reader = Awaited<ReturnType<typeof openReader>>

/** Types keys one by one; gives the 99th percentile of the milliseconds until each is back at all readers. */
const measureEcho = async (writer: Reader, others: readonly Reader[]): Promise<number> => {
  const times: number[] = []
  for (let at = 0; at < echoes; at += 1) {
    const byte = 0x21 + (at % 90)
    const arrived = Promise.all([writer, ...others].map(reader => reader.next(byte)))
    const begun = performance.now()
    writer.socket.send(Buffer.of(byte))
    await arrived
    times.push(performance.now() - begun)
  }
  return times.toSorted((a, b) => a - b)[Math.floor(echoes * 0.99)]!
}

const measureDriver = async (driver: 'qemu' | 'embedded'): Promise<Row> => {
  const state = mkdtempSync(join(tmpdir(), 'vmhost-bench-'))
  mkdirSync(join(state, 'attach'))
  const kernel = join(state, 'attach', 'echo.bin')
  writeFileSync(kernel, echoKernel())
  const server = await startVmhost(state, { VMHOST_DRIVER: driver, VMHOST_ROOT_PASSWORD: password })
  try {
    const api = `http://127.0.0.1:${server.port}/api/v1`
    const send = async (method: string, path: string, body?: object, token = ''): Promise<Record<string, string>> => {
      const reply = await fetch(api + path, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(body && { body: JSON.stringify(body) }),
      })
      if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`)
      return Object(await reply.json())
    }
    const { token = '' } = await send('POST', '/auth/token', { email: 'root', password })
    await send('POST', '/machines', { name: 'echo', memory: 16, kernel }, token)
    await send('PUT', '/machines/echo/start', undefined, token)
    const url = `${api.replace('http', 'ws')}/machines/echo/console`
    const writer = await openReader(`${url}?writer=claim`, token)
    await measureEcho(writer, [])
    const alone = await measureEcho(writer, [])
    const others = await Promise.all(Array.from({ length: readers - 1 }, () => openReader(url, token)))
    const crowd = await measureEcho(writer, others)
    for (const { socket } of [writer, ...others]) socket.terminate()
    await send('PUT', '/machines/echo/stop?force=true', undefined, token)
    return limitRow(
      `console, ${driver}: a key is back at ${readers} readers, p99; floor: at one`,
      { measured: crowd, floor: alone, unit: 'ms' },
      mostMilliseconds,
    )
  } finally {
    await server.stop()
    rmSync(state, { recursive: true, force: true })
  }
}

/** What it takes to type into a console that many read. */
export const consoleRows = async (): Promise<readonly Row[]> => [
  await measureDriver('embedded'),
  await measureDriver('qemu'),
]

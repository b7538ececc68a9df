import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** A machine of QEMU and nothing else. */
interface BareMachine {
  readonly pid: number
  /** What its guest writes to its serial line. */
  readonly serialLog: string
  stop(): Promise<void>
}

/** Starts a machine with the hardware of a template, on an overlay of an image, in a folder that it makes. */
export type StartBareMachine = (folder: string, image: string) => Promise<BareMachine>

/** Waits until a serial log has a text. It looks often, because the wait is a part of what is measured. */
export const waitForText = async (log: string, text: string): Promise<void> => {
  for (;;) {
    try {
      if (readFileSync(log, 'latin1').includes(text)) return
    } catch {
      // Its first output makes the file.
    }
    await wait(2)
  }
}

const stop = async (child: ChildProcess): Promise<void> => {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** The arguments of a running machine of the service, but for its first disk and the recorder of its serial line. */
const readArguments = (pid: number, image: string): readonly string[] => {
  const [, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
  const isRecorder = (at: number): boolean => args[at] === '-chardev' && (args[at + 1] ?? '').includes('id=serial,')
  return args.flatMap((arg, at) => {
    if (isRecorder(at) || isRecorder(at - 1)) return []
    if (args[at - 1] === '-serial') return ['file:serial.log']
    if (args[at - 1] !== '-blockdev' || !arg.includes('"node-name":"hdd0"')) return [arg]
    const backing = { driver: 'qcow2', 'read-only': true, backing: null, file: { driver: 'file', filename: image } }
    return [JSON.stringify({ ...JSON.parse(arg), backing, file: { driver: 'file', filename: 'disk.qcow2' } })]
  })
}

/**
 * Returns what starts machines as by hand: `qemu-img create -b` and then QEMU. `pid` is that of a running machine of the service,
 * whose hardware they have.
 */
export const createBareMachines =
  (pid: number): StartBareMachine =>
  async (folder, image) => {
    mkdirSync(join(folder, 'run'), { recursive: true })
    const disk = join(folder, 'disk.qcow2')
    await execute('qemu-img', ['create', '-q', '-f', 'qcow2', '-b', image, '-F', 'qcow2', disk])
    const child = spawn('qemu-system-x86_64', readArguments(pid, image), { cwd: folder, stdio: 'ignore' })
    await once(child, 'spawn')
    return { pid: child.pid!, serialLog: join(folder, 'serial.log'), stop: () => stop(child) }
  }

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { speakQmp } from './qmp-server.ts'

/**
 * Behaviour of the program that is started in place of QEMU: normal, or, after `system_reset`, that of a compromised QEMU. The program
 * reads it from the file `behaviour` in its machine's folder, so a test can change it.
 */
export type Behaviour =
  | 'well'
  /** Each of these sends something invalid, at once and to every new client. */
  | 'no JSON'
  | 'wrong shape'
  | 'wrong answer'
  | 'half a line'
  | 'endless line'
  /** The incoming or the outgoing migration never ends. */
  | 'loading'
  | 'sending'
  /** It stops its guest and answers nothing more on that connection, as if it had been halted and the connection had ended then. */
  | 'silent stop'

/** Writes such a program into a folder and returns its path. */
export const installFakeQemu = async (folder: string): Promise<string> => {
  const path = join(folder, 'fake-qemu')
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${import.meta.filename}' "$@"\n`)
  await chmod(path, 0o755)
  return path
}

export const setBehaviour = (home: string, behaviour: Behaviour): void =>
  writeFileSync(join(home, 'behaviour'), behaviour)

const readBehaviour = (): Behaviour =>
  existsSync('behaviour') ? (readFileSync('behaviour', 'utf8') as Behaviour) : 'well'

let status = 'running'
let hasReset = false

const misbehave = (socket: Socket): void => {
  switch (readBehaviour()) {
    case 'no JSON':
      socket.write('this is not json\r\n')
      break
    case 'wrong shape':
      socket.write('{"event":7}\r\n')
      break
    case 'half a line':
      socket.end('{"event":"ST')
      break
    case 'endless line': {
      const timer = setInterval(() => socket.writableLength === 0 && socket.write('x'.repeat(65_536)), 1)
      socket.once('close', () => clearInterval(timer))
      break
    }
    default:
  }
}

const answerTo = (command: string): object => {
  switch (command) {
    case 'query-status':
      if (hasReset && readBehaviour() === 'wrong answer') return { status: 7 }
      return { status: readBehaviour() === 'loading' ? 'inmigrate' : status }
    case 'query-chardev':
      return []
    case 'query-uuid':
      return { UUID: process.argv[process.argv.indexOf('-uuid') + 1] }
    case 'query-migrate':
      return readBehaviour() === 'sending' ? { status: 'active' } : {}
    case 'stop':
      status = 'paused'
      return {}
    case 'cont':
      status = 'running'
      return {}
    case 'system_reset':
      hasReset = true
      return {}
    case 'quit':
      process.exit(0)
    default:
      return {}
  }
}

const serve = (socket: Socket): void => {
  let isSilent = false
  speakQmp(socket, (command, reply) => {
    if (isSilent) return
    const answer = answerTo(command)
    if (hasReset) misbehave(socket)
    isSilent = command === 'stop' && readBehaviour() === 'silent stop'
    // A reply would end the endless line.
    if (!isSilent && (!hasReset || readBehaviour() !== 'endless line')) reply(answer)
  })
}

if (process.argv[1] === import.meta.filename) {
  // Its guest prints nothing.
  createServer(() => {}).listen('run/line.sock')
  createServer(serve).listen('run/qmp.sock')
}

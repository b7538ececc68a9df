import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'

/** Speaks QMP on a connection: greets as QEMU does and passes each command to `onCommand`. */
export const speakQmp = (
  socket: Socket,
  onCommand: (command: string, reply: (answer: object) => void) => void,
): void => {
  const send = (message: object): void => {
    if (!socket.writableEnded) socket.write(`${JSON.stringify(message)}\r\n`)
  }
  let text = ''
  socket.on('error', () => {})
  send({ QMP: { version: {}, capabilities: [] } })
  socket.on('data', (more: Buffer) => {
    const lines = (text + more.toString()).split('\n')
    text = lines.pop()!
    for (const { execute, id } of lines.map(line => JSON.parse(line) as { execute: string; id: number }))
      onCommand(execute, answer => send({ return: answer, id }))
  })
}

/** A fake QMP server that replies in place of a machine's QEMU, as a compromised QEMU could. */
export interface QmpServer extends AsyncDisposable {
  /** The received commands, in order. */
  readonly receivedCommands: readonly string[]
}

/**
 * Replaces a machine's control socket while no service is connected. Its QEMU keeps running. `answer` returns the reply to a command,
 * or undefined for no reply; it may use `socket` to send other data.
 */
export const replaceQmp = async (
  { id, home }: { readonly id: string; readonly home: string },
  answer: (command: string, socket: Socket) => object | undefined,
): Promise<QmpServer> => {
  const receivedCommands: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    speakQmp(socket, (command, reply) => {
      receivedCommands.push(command)
      const said = { 'query-uuid': { UUID: id }, 'query-chardev': [] }[command] ?? answer(command, socket)
      if (said) reply(said)
    })
  })
  const path = join(home, 'run/qmp.sock')
  rmSync(path)
  await new Promise<void>(resolve => server.listen(path, resolve))
  return {
    receivedCommands,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

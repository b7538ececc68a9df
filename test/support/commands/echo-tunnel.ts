import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { startProgram } from '../service.ts'
import { until } from '../waiting.ts'

/** `vmhost tunnel` to the TCP port 7 of a small Linux, which sends back what it gets. */
export const openEchoTunnel = (machine: string, state: string, env: Readonly<Record<string, string>> = {}) => {
  const child = startProgram(['tunnel', machine, '7'], env, state)
  let received = ''
  child.stdout.on('data', (bytes: Buffer) => void (received += bytes.toString('latin1')))
  const errors = text(child.stderr)
  const exited = new Promise<number | null>(resolve => child.once('exit', resolve))
  return {
    /** Sends a text to the guest and waits for it to come back. */
    async echo(sent: string) {
      const before = received.length
      child.stdin.write(sent)
      await until(() => expect(received.length).toBe(before + sent.length))
      expect(received.slice(before) === sent).toBe(true)
    },
    closeInput: () => child.stdin.end(),
    end: async () => ({ code: await exited, stderr: await errors }),
  }
}

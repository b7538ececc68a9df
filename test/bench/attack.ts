/** Sends wrong passwords of root to a service, from 100 addresses, 500 a second; a program of its own, to be nobody's neighbour. */
import { setPriority } from 'node:os'
import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

// Attackers have processors of their own; here they must not take those of whom they attack.
setPriority(19)

const [port = '', count = ''] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: 4 })
const body = JSON.stringify({ username: 'root', password: 'wrong' })

const attempt = (at: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const sent = request(
      {
        port: Number(port),
        agent,
        method: 'POST',
        path: '/api/v1/auth/token',
        headers: { 'content-length': body.length, 'x-forwarded-for': `203.0.113.${at % 100}` },
      },
      response => void response.resume().once('end', resolve),
    )
    sent.once('error', reject)
    sent.end(body)
  })

const attempts: Promise<void>[] = []
for (let at = 0; at < Number(count); at += 1) {
  attempts.push(attempt(at))
  if (at % 5 === 4) await wait(10)
}
await Promise.all(attempts)
agent.destroy()

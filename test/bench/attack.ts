/** Sends wrong passwords of root to a service, from 100 addresses; a program of its own, to be nobody's neighbour. */
import { Agent, request } from 'node:http'

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

await Promise.all(Array.from({ length: Number(count) }, (_, at) => attempt(at)))
agent.destroy()

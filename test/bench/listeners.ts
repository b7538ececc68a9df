/** Opens so many WebSockets, which with `stopped` are never read, and says how many messages have come in whenever it is asked by a line. */
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'

const [url = '', count = '', token = '', how = ''] = process.argv.slice(2)
let received = 0
const connect = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` }, perMessageDeflate: false })
    socket.once('open', () => {
      if (how === 'stopped') socket.pause()
      resolve()
    })
    socket.once('error', reject)
    socket.on('message', () => void (received += 1))
  })

for (let made = 0; made < Number(count); made += 50)
  await Promise.all(Array.from({ length: Math.min(50, Number(count) - made) }, connect))
process.stdout.write('ready\n')
createInterface({ input: process.stdin }).on('line', () => process.stdout.write(`${received}\n`))

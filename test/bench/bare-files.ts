/** The floor of the pulls: node:http and the files of the folder that is its argument, nothing else. */
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'

const [folder = ''] = process.argv.slice(2)
const server = createServer((request, response) => {
  const file = createReadStream(join(folder, new URL(request.url ?? '', 'http://localhost').pathname), {
    highWaterMark: 1024 * 1024,
  })
  pipeline(file, response, () => undefined)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`bare serves ${(server.address() as AddressInfo).port}\n`))

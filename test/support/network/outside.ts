import { execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'

const ip = (...args: readonly string[]): void => void execFileSync('ip', args, { stdio: 'pipe' })

/** A computer outside of the host: a network namespace with a server that answers each HTTP request with `outside`. */
export interface Outside extends AsyncDisposable {
  readonly address: string
  readonly port: number
  /** The address of the host on the way there. */
  readonly hostAddress: string
}

const server = `require('node:http').createServer((_, reply) => reply.end('outside')).listen(8080, () => console.log('ready'))`

/** Makes a computer outside of the host, on one of the networks of four addresses in 198.18.0.0/16. Needs root. */
export const openOutside = async (): Promise<Outside> => {
  const number = randomInt(2 ** 14)
  const [name, link] = [`vmhost-test-${number}`, `vht${number}`]
  const network = `198.18.${number >> 6}`
  const first = (number & 63) * 4
  const [hostAddress, address] = [`${network}.${first + 1}`, `${network}.${first + 2}`]
  ip('netns', 'add', name)
  ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
  ip('address', 'add', `${hostAddress}/30`, 'dev', link)
  ip('link', 'set', link, 'up')
  ip('-n', name, 'address', 'add', `${address}/30`, 'dev', 'eth0')
  ip('-n', name, 'link', 'set', 'eth0', 'up')
  const child = spawn('ip', ['netns', 'exec', name, process.execPath, '-e', server], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return {
    address,
    port: 8080,
    hostAddress,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      ip('netns', 'delete', name)
    },
  }
}

import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { newFolder } from '../folder.ts'

/** Where the program is; the package has no types. */
const require = createRequire(import.meta.url)
const { default: program } = require('workerd') as { default: string }

/** A Cap'n Proto text of a worker that is one module and is served on a port of the loopback. */
const configOf = (module: string, compatibilityDate: string): string => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "edge", worker = (
    modules = [(name = "edge.mjs", esModule = embed ${JSON.stringify(module)})],
    compatibilityDate = ${JSON.stringify(compatibilityDate)},
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "edge")],
);
`

/** Serves a bundle as wrangler.toml would have the edge serve it; gives the address. */
export const startWorkerd = async (file: string): Promise<{ readonly url: string } & AsyncDisposable> => {
  const [, date] = /^compatibility_date = "(.*)"$/m.exec(readFileSync('wrangler.toml', 'utf8'))!
  const folder = newFolder()
  writeFileSync(join(folder.path, 'edge.mjs'), readFileSync(resolve(file)))
  writeFileSync(join(folder.path, 'config.capnp'), configOf('edge.mjs', date!))
  // On descriptor 3 it tells which port it has found.
  const child = spawn(program, ['serve', '--control-fd=3', join(folder.path, 'config.capnp')], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  const exited = new Promise(settle => child.once('exit', settle))
  const told = createInterface(child.stdio[3] as Readable)
  const port = await new Promise<number>((settle, reject) => {
    told.on('line', line => settle((JSON.parse(line) as { port: number }).port))
    child.once('exit', code => reject(new Error(`workerd ended with ${code}`)))
  })
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
      folder[Symbol.dispose]()
    },
  }
}

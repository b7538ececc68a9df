/** The entry of the program: the command line in the main thread, a role in a worker thread. */
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { createPartsBeside } from './parts-beside.ts'
import { prepareProcess } from './prepare-process.ts'

const minimumVersion = [24, 11] as const
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < minimumVersion[0] || (major === minimumVersion[0] && minor < minimumVersion[1])) {
  console.error(
    `vmhost needs Node ${minimumVersion.join('.')} or newer; this is ${process.versions.node}. The command vmhost, as npm installs it, starts it under the Node that comes with it.`,
  )
  process.exit(1)
}
// The cache of the bundle is beside the bundle, because whoever can write there can change the bundle too.
if (import.meta.url.endsWith('.mjs')) module.enableCompileCache(fileURLToPath(new URL('.cache', import.meta.url)))

if (isMainThread || !parentPort) {
  prepareProcess()
  await (await import('./cli.ts')).main(process.argv, createPartsBeside(new URL(import.meta.url)))
} else await (await import('./worker.ts')).runWorker(workerData, parentPort)

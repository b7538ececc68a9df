/** The one file that the program starts from: the command line in the main thread, a role in a worker thread. */
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'

const oldest = [24, 11] as const
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
  console.error(
    `vmhost needs Node ${oldest.join('.')} or newer; this is ${process.versions.node}. The command vmhost, as npm installs it, starts it under the Node that comes with it.`,
  )
  process.exit(1)
}
// For the bundle, beside it: who can change the one can change the other.
if (import.meta.url.endsWith('.mjs')) module.enableCompileCache(fileURLToPath(new URL('.cache', import.meta.url)))

if (isMainThread) {
  // Without a listener Node opens its debugger at this signal, and through that everybody on the host could run code here.
  process.on('SIGUSR1', () => {})
  // Threads for the file system, read when the first one is needed: of the usual four, four hung reads would take all.
  process.env['UV_THREADPOOL_SIZE'] ??= '32'
}

if (isMainThread || !parentPort) await (await import('./cli.ts')).main(process.argv, new URL(import.meta.url))
else await (await import('./worker.ts')).runWorker(workerData, parentPort)

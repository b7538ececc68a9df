/** The one file that the bundle starts from: the command line in the main thread, a role in a worker thread. */
import { isMainThread, parentPort, workerData } from 'node:worker_threads'

if (isMainThread || !parentPort) await (await import('./cli.ts')).main(process.argv, new URL(import.meta.url))
else await (await import('./worker.ts')).runWorker(workerData, parentPort)

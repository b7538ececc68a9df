/** The entry of the worker threads of the single executable, which contains this code as a text. */
import { parentPort, workerData } from 'node:worker_threads'
import { runWorker } from './worker.ts'

// A thread always has a port. What fails ends the thread, and its owner hears of that.
if (parentPort) void runWorker(workerData, parentPort)

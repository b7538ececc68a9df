import { createPartsBeside } from '#lib/entry/parts-beside.ts'

const { startWorker, readAsset } = createPartsBeside(new URL('../../lib/entry/main.ts', import.meta.url))

/** What the embedded driver needs of the program, from the sources. */
export const embeddedParts = { startWorker, readProgram: () => readAsset('v86.wasm') }

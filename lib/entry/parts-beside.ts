import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AssetName, createOwnProgram, type OwnProgram, type ProgramParts } from '#lib/platform/program-parts.ts'
import { createStartWorker } from '#lib/platform/workers.ts'

/** Where each asset is in the folder of the bundle. */
const bundledAssets: Readonly<Record<AssetName, string>> = {
  'v86.wasm': 'chunks/v86.wasm',
  'api-description.json': 'api-description.json',
  'web-console.json': 'web-console.json',
}

/** The parts of a program that is a folder of files: the bundle, or in development the sources. */
export const createPartsBeside = (entry: URL): ProgramParts => {
  const extension = extname(entry.pathname)
  const isBundle = extension === '.mjs'
  const findProgram = (name: string): OwnProgram =>
    createOwnProgram(fileURLToPath(new URL(`${name}${extension}`, entry)))
  return {
    startWorker: createStartWorker(entry),
    eventsProcess: findProgram('events'),
    recorder: findProgram('recorder'),
    async readAsset(name) {
      const file = isBundle ? new URL(bundledAssets[name], entry) : createRequire(entry).resolve(`v86/build/${name}`)
      return new Uint8Array(await readFile(file))
    },
  }
}

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { StartWorker } from './workers.ts'

/** A program of ours that this one starts in a process of its own, with the executable file of this process. */
export interface OwnProgram {
  /** The first arguments of the process: the file of the program, or the name under which the executable has it. */
  readonly args: readonly string[]
  /** A text that another build of the program does not have. */
  readonly readVersion: () => string
}

/** Data that the program brings along. */
export type AssetName = 'v86.wasm' | 'api-description.json' | 'web-console.json'

/** What a program consists of beside its main code. Each build has it elsewhere, and the entry of the build says where. */
export interface ProgramParts {
  readonly startWorker: StartWorker
  readonly eventsProcess: OwnProgram
  readonly recorder: OwnProgram
  readonly readAsset: (name: AssetName) => Promise<Uint8Array<ArrayBuffer>>
}

/** Shortens a digest to what tells versions apart on a command line. */
const versionLength = 16

/** A program that is a file of its own. */
export const createOwnProgram = (file: string): OwnProgram => ({
  args: [file],
  readVersion: () => hash('sha256', readFileSync(file)).slice(0, versionLength),
})

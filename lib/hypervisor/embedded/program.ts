import { computeSha256 } from './saved-state.ts'

/** The compiled program of the emulator. All threads of machines share it. */
export interface EmulatorProgram {
  readonly module: WebAssembly.Module
  /** SHA-256 of its bytes. */
  readonly digest: string
}

/** Returns a function that reads and compiles the program once. After a failure it tries again. */
export const createProgramLoader = (
  readProgram: () => Promise<Uint8Array<ArrayBuffer>>,
): (() => Promise<EmulatorProgram>) => {
  const load = async (): Promise<EmulatorProgram> => {
    const bytes = await readProgram()
    return { module: await WebAssembly.compile(bytes), digest: computeSha256(bytes) }
  }
  let loading: Promise<EmulatorProgram> | undefined
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
}

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where v86's program is: beside this module once bundled, in the package otherwise. */
export const wasmPath = (): string => {
  const beside = fileURLToPath(new URL('v86.wasm', import.meta.url))
  return existsSync(beside) ? beside : fileURLToPath(import.meta.resolve('v86/build/v86.wasm'))
}

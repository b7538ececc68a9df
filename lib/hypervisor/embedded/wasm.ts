import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Returns the path of v86's WebAssembly program: next to this module in a bundle, else in the package. */
export const findWasm = (): string => {
  const bundled = fileURLToPath(new URL('v86.wasm', import.meta.url))
  return existsSync(bundled) ? bundled : fileURLToPath(import.meta.resolve('v86/build/v86.wasm'))
}

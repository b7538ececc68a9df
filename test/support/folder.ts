import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder for one test; disposing deletes it with all that is in it. */
export const newFolder = (): { readonly path: string } & Disposable => {
  const path = mkdtempSync(join(tmpdir(), 'vmhost-test-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

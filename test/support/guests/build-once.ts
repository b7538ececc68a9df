import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'vmhost-test-guests')

/** Holds a lock that ends with its holder, also when that is killed: `flock` waits for the end of its input. */
const holdLock = async (file: string): Promise<AsyncDisposable> => {
  const holder = spawn('flock', [file, 'sh', '-c', 'echo held; cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(holder, 'exit')
  await Promise.race([once(holder.stdout, 'data'), ended.then(() => Promise.reject(new Error('flock ended')))])
  return {
    async [Symbol.asyncDispose]() {
      holder.stdin.end()
      await ended
    },
  }
}

const hashRecipe = (recipe: string): string => {
  const hash = createHash('sha256')
  for (const name of readdirSync(recipe).toSorted()) hash.update(name).update(readFileSync(join(recipe, name)))
  return hash.digest('hex').slice(0, 12)
}

/**
 * Returns a folder of this machine's cache with what `build` writes into the folder that it is given. It is built by the first
 * caller of all processes, and again when a file of the folder `recipe` has changed. Throws what `build` throws.
 */
export const buildOnce = async (recipe: string, build: (folder: string) => Promise<void>): Promise<string> => {
  const folder = join(cache, `${recipe.split('/').at(-1)!}-${hashRecipe(recipe)}`)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  await using _lock = await holdLock(`${folder}.lock`)
  if (existsSync(folder)) return folder
  const unfinished = `${folder}.new`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished)
  await build(unfinished)
  renameSync(unfinished, folder)
  return folder
}

import { ServiceError } from '#lib/errors.ts'
import { type Account, runProcess } from '#lib/platform/processes.ts'

const readId = async (option: '-u' | '-g', user: string): Promise<number> => {
  const { code, stdout } = await runProcess('id', [option, user], { timeout: 10_000 })
  if (code !== 0)
    throw new ServiceError(
      'unavailable',
      `qemu_user names ${user}, and this host has no such user. Make it (useradd --system ${user}), or change the setting.`,
    )
  return Number(stdout)
}

/**
 * Returns the account that QEMU runs as. Throws `unavailable` if there is no such user or the service may not start programs
 * as it.
 */
export const findAccount = async (user: string): Promise<Account> => {
  if (process.getuid?.() !== 0)
    throw new ServiceError(
      'unavailable',
      `qemu_user is ${user}, but the service is not root, so it cannot start QEMU as another user. Run it as root, or leave qemu_user out.`,
    )
  const [uid, gid] = await Promise.all([readId('-u', user), readId('-g', user)])
  if (uid === 0)
    throw new ServiceError('unavailable', 'qemu_user must not be root, whose rights it is there to keep from QEMU.')
  return { user, uid, gid }
}

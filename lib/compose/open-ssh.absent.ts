import { ServiceError } from '#lib/errors.ts'
import type { openSsh as openRealSsh } from './open-ssh.ts'

/** Takes the place of open-ssh.ts in a build without the endpoints of SSH. */
export const openSsh: typeof openRealSsh = () => ({
  async execute() {
    throw new ServiceError('unsupported', 'This build has no SSH.')
  },
  async close() {},
})

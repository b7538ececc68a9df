import { emptyContents } from '#lib/catalog/contents.ts'
import { sidecarSuffix } from '#lib/catalog/manifest-objects.ts'
import { applyRegisteredContents, applyRegistration } from '#lib/catalog/register.ts'
import { toViewFields } from '#lib/catalog/view.ts'
import { ServiceError } from '#lib/errors.ts'
import type { PushTarget } from '../push-target.ts'
import type { TargetOrder } from './schemas.ts'

/**
 * The target of a push that a control has ordered. The control has checked what its catalog has, and registers the manifest
 * when it has the reply, so that this host registers nothing and removes nothing.
 */
export const createOrderedTarget = ({ id, existing, hidden }: TargetOrder): PushTarget => ({
  newId: id,
  findExisting: async () => existing,
  isHidden: async path => hidden.includes(path),
  async check({ catalog_id, pack_filename }) {
    const path = `${catalog_id}/${pack_filename}`
    if (hidden.includes(path) || hidden.includes(path + sidecarSuffix))
      throw new ServiceError('forbidden', `${path} on the provider is not yours to put into a manifest or to read.`)
  },
  register: async registration => ({
    ...toViewFields(applyRegistration(registration, undefined, { at: new Date().toISOString() })),
    ...applyRegisteredContents(registration, emptyContents),
  }),
  createOwnerCheck: async () => async () => true,
})

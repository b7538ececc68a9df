import { createOk, createProblem, type Finding } from '../finding.ts'
import type { Surroundings } from '../surroundings.ts'

/** Checks that the service, if it runs, says that all its parts are healthy. */
export const checkService = async ({ settings, service }: Surroundings): Promise<Finding> => {
  if (service.kind === 'stopped') return createOk(`No service runs on ${settings.state}, as far as this user can see.`)
  if (service.kind === 'silent')
    return createProblem(
      `A service runs on ${settings.state}, and does not answer: ${service.reason}.`,
      'systemctl restart vmhost',
    )
  const unhealthy = service.health.services.filter(({ healthy }) => !healthy)
  if (unhealthy.length === 0) return createOk('The service runs, and all its parts are healthy.')
  return createProblem(
    `The service runs, and says of itself: ${unhealthy.map(({ name, message }) => `${name}: ${message}`).join('; ')}.`,
    'journalctl --unit vmhost --lines 50',
  )
}

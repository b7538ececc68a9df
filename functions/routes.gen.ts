// Written by build/routes.ts. Do not edit; run `npm run routes`.
import authPublicKeys from './auth/public-keys.ts'
import healthProbe from './health/probe.ts'
import metricsShow from './metrics/show.ts'
import openapiShow from './openapi/show.ts'
import auditList from './audit/list.ts'
import authListApiKeys from './auth/list-api-keys.ts'
import authCreateApiKey from './auth/create-api-key.ts'
import authDeleteApiKey from './auth/delete-api-key.ts'
import authShowApiKey from './auth/show-api-key.ts'
import authRevokeApiKey from './auth/revoke-api-key.ts'
import claimsList from './claims/list.ts'
import claimsCreate from './claims/create.ts'
import claimsListGrouped from './claims/list-grouped.ts'
import claimsDelete from './claims/delete.ts'
import claimsShow from './claims/show.ts'
import authRotateKey from './auth/rotate-key.ts'
import authCreateLink from './auth/create-link.ts'
import authUseLink from './auth/use-link.ts'
import authChangePassword from './auth/change-password.ts'
import rolesList from './roles/list.ts'
import rolesCreate from './roles/create.ts'
import rolesDelete from './roles/delete.ts'
import rolesShow from './roles/show.ts'
import rolesListClaims from './roles/list-claims.ts'
import rolesAddClaim from './roles/add-claim.ts'
import rolesRemoveClaim from './roles/remove-claim.ts'
import authShowSession from './auth/show-session.ts'
import authOpenSession from './auth/open-session.ts'
import authCreateTicket from './auth/create-ticket.ts'
import authSignOut from './auth/sign-out.ts'
import authSignIn from './auth/sign-in.ts'
import authValidateOwnToken from './auth/validate-own-token.ts'
import authValidateToken from './auth/validate-token.ts'
import usersList from './users/list.ts'
import usersCreate from './users/create.ts'
import usersDelete from './users/delete.ts'
import usersShow from './users/show.ts'
import usersUpdate from './users/update.ts'
import usersListClaims from './users/list-claims.ts'
import usersGiveClaim from './users/give-claim.ts'
import usersTakeClaim from './users/take-claim.ts'
import usersUnlock from './users/unlock.ts'
import usersListRoles from './users/list-roles.ts'
import usersGiveRole from './users/give-role.ts'
import usersTakeRole from './users/take-role.ts'
import catalogList from './catalog/list.ts'
import catalogRegister from './catalog/register.ts'
import catalogManagersList from './catalog-managers/list.ts'
import catalogManagersCreate from './catalog-managers/create.ts'
import catalogManagersDelete from './catalog-managers/delete.ts'
import catalogManagersShow from './catalog-managers/show.ts'
import catalogManagersUpdate from './catalog-managers/update.ts'
import catalogManagersCatalogList from './catalog-managers/catalog-list.ts'
import catalogManagersCatalogRegister from './catalog-managers/catalog-register.ts'
import catalogManagersCatalogImport from './catalog-managers/catalog-import.ts'
import catalogManagersCatalogImportVm from './catalog-managers/catalog-import-vm.ts'
import catalogManagersCatalogPull from './catalog-managers/catalog-pull.ts'
import catalogManagersCatalogPullAsync from './catalog-managers/catalog-pull-async.ts'
import catalogManagersCatalogPush from './catalog-managers/catalog-push.ts'
import catalogManagersCatalogPushAsync from './catalog-managers/catalog-push-async.ts'
import catalogManagersCatalogDelete from './catalog-managers/catalog-delete.ts'
import catalogManagersCatalogShow from './catalog-managers/catalog-show.ts'
import catalogManagersCatalogRemoveClaims from './catalog-managers/catalog-remove-claims.ts'
import catalogManagersCatalogAddClaims from './catalog-managers/catalog-add-claims.ts'
import catalogManagersCatalogConnect from './catalog-managers/catalog-connect.ts'
import catalogManagersCatalogDownload from './catalog-managers/catalog-download.ts'
import catalogManagersCatalogDescribe from './catalog-managers/catalog-describe.ts'
import catalogManagersCatalogRevoke from './catalog-managers/catalog-revoke.ts'
import catalogManagersCatalogRemoveRoles from './catalog-managers/catalog-remove-roles.ts'
import catalogManagersCatalogAddRoles from './catalog-managers/catalog-add-roles.ts'
import catalogManagersCatalogRemoveTags from './catalog-managers/catalog-remove-tags.ts'
import catalogManagersCatalogAddTags from './catalog-managers/catalog-add-tags.ts'
import catalogManagersCatalogTaint from './catalog-managers/catalog-taint.ts'
import catalogManagersCatalogUntaint from './catalog-managers/catalog-untaint.ts'
import catalogCacheClear from './catalog-cache/clear.ts'
import catalogCacheList from './catalog-cache/list.ts'
import catalogCacheDelete from './catalog-cache/delete.ts'
import catalogGarbage from './catalog/garbage.ts'
import catalogImport from './catalog/import.ts'
import catalogImportVm from './catalog/import-vm.ts'
import catalogPull from './catalog/pull.ts'
import catalogPullAsync from './catalog/pull-async.ts'
import catalogPush from './catalog/push.ts'
import catalogPushAsync from './catalog/push-async.ts'
import catalogDelete from './catalog/delete.ts'
import catalogShow from './catalog/show.ts'
import catalogRemoveClaims from './catalog/remove-claims.ts'
import catalogAddClaims from './catalog/add-claims.ts'
import catalogConnect from './catalog/connect.ts'
import catalogDownload from './catalog/download.ts'
import catalogDescribe from './catalog/describe.ts'
import catalogRevoke from './catalog/revoke.ts'
import catalogRemoveRoles from './catalog/remove-roles.ts'
import catalogAddRoles from './catalog/add-roles.ts'
import catalogRemoveTags from './catalog/remove-tags.ts'
import catalogAddTags from './catalog/add-tags.ts'
import catalogTaint from './catalog/taint.ts'
import catalogUntaint from './catalog/untaint.ts'
import eventsList from './events/list.ts'
import eventsStream from './events/stream.ts'
import healthSystem from './health/system.ts'
import hostsList from './hosts/list.ts'
import hostsCreate from './hosts/create.ts'
import hostsDelete from './hosts/delete.ts'
import hostsShow from './hosts/show.ts'
import hostsUpdate from './hosts/update.ts'
import hostsDrain from './hosts/drain.ts'
import hostsHeartbeat from './hosts/heartbeat.ts'
import hostsPack from './hosts/pack.ts'
import hostsUndrain from './hosts/undrain.ts'
import licenseShow from './license/show.ts'
import imagesList from './images/list.ts'
import imagesCreate from './images/create.ts'
import imagesDelete from './images/delete.ts'
import imagesShow from './images/show.ts'
import imagesShowUpload from './images/show-upload.ts'
import imagesUpload from './images/upload.ts'
import jobsList from './jobs/list.ts'
import jobsCleanUp from './jobs/clean-up.ts'
import jobsDelete from './jobs/delete.ts'
import jobsShow from './jobs/show.ts'
import jobsCancel from './jobs/cancel.ts'
import machinesList from './machines/list.ts'
import machinesCreate from './machines/create.ts'
import machinesDelete from './machines/delete.ts'
import machinesShow from './machines/show.ts'
import machinesClone from './machines/clone.ts'
import machinesDeleteCloudInit from './machines/delete-cloud-init.ts'
import machinesShowCloudInit from './machines/show-cloud-init.ts'
import machinesConsole from './machines/console.ts'
import machinesExecute from './machines/execute.ts'
import machinesReadFile from './machines/read-file.ts'
import machinesWriteFile from './machines/write-file.ts'
import machinesFork from './machines/fork.ts'
import machinesListForwards from './machines/list-forwards.ts'
import machinesAddForward from './machines/add-forward.ts'
import machinesRemoveForward from './machines/remove-forward.ts'
import machinesPause from './machines/pause.ts'
import machinesReset from './machines/reset.ts'
import machinesRestart from './machines/restart.ts'
import machinesResume from './machines/resume.ts'
import machinesScreen from './machines/screen.ts'
import machinesScreenshot from './machines/screenshot.ts'
import machinesSet from './machines/set.ts'
import snapshotSchedulesList from './snapshot-schedules/list.ts'
import snapshotSchedulesDelete from './snapshot-schedules/delete.ts'
import snapshotSchedulesSet from './snapshot-schedules/set.ts'
import machinesDeleteSnapshots from './machines/delete-snapshots.ts'
import machinesListSnapshots from './machines/list-snapshots.ts'
import machinesCreateSnapshot from './machines/create-snapshot.ts'
import machinesDeleteSnapshot from './machines/delete-snapshot.ts'
import machinesShowSnapshot from './machines/show-snapshot.ts'
import machinesUpdateSnapshot from './machines/update-snapshot.ts'
import machinesRevertToSnapshot from './machines/revert-to-snapshot.ts'
import machinesStart from './machines/start.ts'
import machinesStatus from './machines/status.ts'
import machinesStop from './machines/stop.ts'
import machinesSuspend from './machines/suspend.ts'
import machinesTunnel from './machines/tunnel.ts'
import machinesWait from './machines/wait.ts'
import poolsList from './pools/list.ts'
import poolsCreate from './pools/create.ts'
import poolsDelete from './pools/delete.ts'
import poolsShow from './pools/show.ts'
import poolsUpdate from './pools/update.ts'
import poolsClaim from './pools/claim.ts'
import sshExecute from './ssh/execute.ts'
import userConfigsList from './user-configs/list.ts'
import userConfigsCreate from './user-configs/create.ts'
import userConfigsDelete from './user-configs/delete.ts'
import userConfigsShow from './user-configs/show.ts'
import userConfigsUpdate from './user-configs/update.ts'
import eventsClients from './events/clients.ts'
import eventsStats from './events/stats.ts'
import eventsSubscribe from './events/subscribe.ts'
import eventsUnsubscribe from './events/unsubscribe.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type { Exposure } from '#lib/http/exposure.ts'

/** The selection that this table is of all endpoints. */
export const builtFor: Exposure = { include: [], exclude: [] }

export const routes = [
  { id: 'auth/public-keys', endpoint: authPublicKeys }, // GET /.well-known/jwks.json
  { id: 'health/probe', endpoint: healthProbe }, // GET /health/probe
  { id: 'metrics/show', endpoint: metricsShow }, // GET /metrics
  { id: 'openapi/show', endpoint: openapiShow }, // GET /openapi.json
  { id: 'audit/list', endpoint: auditList }, // GET /v1/audit
  { id: 'auth/list-api-keys', endpoint: authListApiKeys }, // GET /v1/auth/api_keys
  { id: 'auth/create-api-key', endpoint: authCreateApiKey }, // POST /v1/auth/api_keys
  { id: 'auth/delete-api-key', endpoint: authDeleteApiKey }, // DELETE /v1/auth/api_keys/{id}
  { id: 'auth/show-api-key', endpoint: authShowApiKey }, // GET /v1/auth/api_keys/{id}
  { id: 'auth/revoke-api-key', endpoint: authRevokeApiKey }, // PUT /v1/auth/api_keys/{id}/revoke
  { id: 'claims/list', endpoint: claimsList }, // GET /v1/auth/claims
  { id: 'claims/create', endpoint: claimsCreate }, // POST /v1/auth/claims
  { id: 'claims/list-grouped', endpoint: claimsListGrouped }, // GET /v1/auth/claims/grouped
  { id: 'claims/delete', endpoint: claimsDelete }, // DELETE /v1/auth/claims/{id}
  { id: 'claims/show', endpoint: claimsShow }, // GET /v1/auth/claims/{id}
  { id: 'auth/rotate-key', endpoint: authRotateKey }, // POST /v1/auth/key/rotate
  { id: 'auth/create-link', endpoint: authCreateLink }, // POST /v1/auth/links
  { id: 'auth/use-link', endpoint: authUseLink }, // POST /v1/auth/links/use
  { id: 'auth/change-password', endpoint: authChangePassword }, // PUT /v1/auth/password
  { id: 'roles/list', endpoint: rolesList }, // GET /v1/auth/roles
  { id: 'roles/create', endpoint: rolesCreate }, // POST /v1/auth/roles
  { id: 'roles/delete', endpoint: rolesDelete }, // DELETE /v1/auth/roles/{id}
  { id: 'roles/show', endpoint: rolesShow }, // GET /v1/auth/roles/{id}
  { id: 'roles/list-claims', endpoint: rolesListClaims }, // GET /v1/auth/roles/{id}/claims
  { id: 'roles/add-claim', endpoint: rolesAddClaim }, // POST /v1/auth/roles/{id}/claims
  { id: 'roles/remove-claim', endpoint: rolesRemoveClaim }, // DELETE /v1/auth/roles/{id}/claims/{claim}
  { id: 'auth/show-session', endpoint: authShowSession }, // GET /v1/auth/session
  { id: 'auth/open-session', endpoint: authOpenSession }, // POST /v1/auth/session
  { id: 'auth/create-ticket', endpoint: authCreateTicket }, // POST /v1/auth/tickets
  { id: 'auth/sign-out', endpoint: authSignOut }, // DELETE /v1/auth/token
  { id: 'auth/sign-in', endpoint: authSignIn }, // POST /v1/auth/token
  { id: 'auth/validate-own-token', endpoint: authValidateOwnToken }, // GET /v1/auth/token/validate
  { id: 'auth/validate-token', endpoint: authValidateToken }, // POST /v1/auth/token/validate
  { id: 'users/list', endpoint: usersList }, // GET /v1/auth/users
  { id: 'users/create', endpoint: usersCreate }, // POST /v1/auth/users
  { id: 'users/delete', endpoint: usersDelete }, // DELETE /v1/auth/users/{id}
  { id: 'users/show', endpoint: usersShow }, // GET /v1/auth/users/{id}
  { id: 'users/update', endpoint: usersUpdate }, // PUT /v1/auth/users/{id}
  { id: 'users/list-claims', endpoint: usersListClaims }, // GET /v1/auth/users/{id}/claims
  { id: 'users/give-claim', endpoint: usersGiveClaim }, // POST /v1/auth/users/{id}/claims
  { id: 'users/take-claim', endpoint: usersTakeClaim }, // DELETE /v1/auth/users/{id}/claims/{claim}
  { id: 'users/unlock', endpoint: usersUnlock }, // DELETE /v1/auth/users/{id}/lock
  { id: 'users/list-roles', endpoint: usersListRoles }, // GET /v1/auth/users/{id}/roles
  { id: 'users/give-role', endpoint: usersGiveRole }, // POST /v1/auth/users/{id}/roles
  { id: 'users/take-role', endpoint: usersTakeRole }, // DELETE /v1/auth/users/{id}/roles/{role}
  { id: 'catalog/list', endpoint: catalogList }, // GET /v1/catalog
  { id: 'catalog/register', endpoint: catalogRegister }, // POST /v1/catalog
  { id: 'catalog-managers/list', endpoint: catalogManagersList }, // GET /v1/catalog-managers
  { id: 'catalog-managers/create', endpoint: catalogManagersCreate }, // POST /v1/catalog-managers
  { id: 'catalog-managers/delete', endpoint: catalogManagersDelete }, // DELETE /v1/catalog-managers/{id}
  { id: 'catalog-managers/show', endpoint: catalogManagersShow }, // GET /v1/catalog-managers/{id}
  { id: 'catalog-managers/update', endpoint: catalogManagersUpdate }, // PUT /v1/catalog-managers/{id}
  { id: 'catalog-managers/catalog-list', endpoint: catalogManagersCatalogList }, // GET /v1/catalog-managers/{id}/catalog
  { id: 'catalog-managers/catalog-register', endpoint: catalogManagersCatalogRegister }, // POST /v1/catalog-managers/{id}/catalog
  { id: 'catalog-managers/catalog-import', endpoint: catalogManagersCatalogImport }, // PUT /v1/catalog-managers/{id}/catalog/import
  { id: 'catalog-managers/catalog-import-vm', endpoint: catalogManagersCatalogImportVm }, // PUT /v1/catalog-managers/{id}/catalog/import-vm
  { id: 'catalog-managers/catalog-pull', endpoint: catalogManagersCatalogPull }, // PUT /v1/catalog-managers/{id}/catalog/pull, POST /v1/catalog-managers/{id}/catalog/pull
  { id: 'catalog-managers/catalog-pull-async', endpoint: catalogManagersCatalogPullAsync }, // PUT /v1/catalog-managers/{id}/catalog/pull/async, POST /v1/catalog-managers/{id}/catalog/pull/async
  { id: 'catalog-managers/catalog-push', endpoint: catalogManagersCatalogPush }, // POST /v1/catalog-managers/{id}/catalog/push
  { id: 'catalog-managers/catalog-push-async', endpoint: catalogManagersCatalogPushAsync }, // POST /v1/catalog-managers/{id}/catalog/push/async
  { id: 'catalog-managers/catalog-delete', endpoint: catalogManagersCatalogDelete }, // DELETE /v1/catalog-managers/{id}/catalog/{catalogId}, DELETE /v1/catalog-managers/{id}/catalog/{catalogId}/{version}, DELETE /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}
  { id: 'catalog-managers/catalog-show', endpoint: catalogManagersCatalogShow }, // GET /v1/catalog-managers/{id}/catalog/{catalogId}, GET /v1/catalog-managers/{id}/catalog/{catalogId}/{version}, GET /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}
  { id: 'catalog-managers/catalog-remove-claims', endpoint: catalogManagersCatalogRemoveClaims }, // DELETE /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/claims
  { id: 'catalog-managers/catalog-add-claims', endpoint: catalogManagersCatalogAddClaims }, // PATCH /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/claims
  { id: 'catalog-managers/catalog-connect', endpoint: catalogManagersCatalogConnect }, // PATCH /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/connection
  { id: 'catalog-managers/catalog-download', endpoint: catalogManagersCatalogDownload }, // GET /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/download
  { id: 'catalog-managers/catalog-describe', endpoint: catalogManagersCatalogDescribe }, // PUT /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/metadata
  { id: 'catalog-managers/catalog-revoke', endpoint: catalogManagersCatalogRevoke }, // PATCH /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/revoke
  { id: 'catalog-managers/catalog-remove-roles', endpoint: catalogManagersCatalogRemoveRoles }, // DELETE /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/roles
  { id: 'catalog-managers/catalog-add-roles', endpoint: catalogManagersCatalogAddRoles }, // PATCH /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/roles
  { id: 'catalog-managers/catalog-remove-tags', endpoint: catalogManagersCatalogRemoveTags }, // DELETE /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/tags
  { id: 'catalog-managers/catalog-add-tags', endpoint: catalogManagersCatalogAddTags }, // PATCH /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/tags
  { id: 'catalog-managers/catalog-taint', endpoint: catalogManagersCatalogTaint }, // PATCH /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/taint
  { id: 'catalog-managers/catalog-untaint', endpoint: catalogManagersCatalogUntaint }, // PATCH /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/untaint
  { id: 'catalog-cache/clear', endpoint: catalogCacheClear }, // DELETE /v1/catalog/cache, DELETE /v1/cache
  { id: 'catalog-cache/list', endpoint: catalogCacheList }, // GET /v1/catalog/cache, GET /v1/cache
  { id: 'catalog-cache/delete', endpoint: catalogCacheDelete }, // DELETE /v1/catalog/cache/{catalogId}, DELETE /v1/catalog/cache/{catalogId}/{version}, DELETE /v1/cache/{catalogId}, DELETE /v1/cache/{catalogId}/{version}
  { id: 'catalog/garbage', endpoint: catalogGarbage }, // POST /v1/catalog/garbage
  { id: 'catalog/import', endpoint: catalogImport }, // PUT /v1/catalog/import
  { id: 'catalog/import-vm', endpoint: catalogImportVm }, // PUT /v1/catalog/import-vm
  { id: 'catalog/pull', endpoint: catalogPull }, // PUT /v1/catalog/pull, POST /v1/catalog/pull
  { id: 'catalog/pull-async', endpoint: catalogPullAsync }, // PUT /v1/catalog/pull/async, POST /v1/catalog/pull/async
  { id: 'catalog/push', endpoint: catalogPush }, // POST /v1/catalog/push
  { id: 'catalog/push-async', endpoint: catalogPushAsync }, // POST /v1/catalog/push/async
  { id: 'catalog/delete', endpoint: catalogDelete }, // DELETE /v1/catalog/{catalogId}, DELETE /v1/catalog/{catalogId}/{version}, DELETE /v1/catalog/{catalogId}/{version}/{architecture}
  { id: 'catalog/show', endpoint: catalogShow }, // GET /v1/catalog/{catalogId}, GET /v1/catalog/{catalogId}/{version}, GET /v1/catalog/{catalogId}/{version}/{architecture}
  { id: 'catalog/remove-claims', endpoint: catalogRemoveClaims }, // DELETE /v1/catalog/{catalogId}/{version}/{architecture}/claims
  { id: 'catalog/add-claims', endpoint: catalogAddClaims }, // PATCH /v1/catalog/{catalogId}/{version}/{architecture}/claims
  { id: 'catalog/connect', endpoint: catalogConnect }, // PATCH /v1/catalog/{catalogId}/{version}/{architecture}/connection
  { id: 'catalog/download', endpoint: catalogDownload }, // GET /v1/catalog/{catalogId}/{version}/{architecture}/download
  { id: 'catalog/describe', endpoint: catalogDescribe }, // PUT /v1/catalog/{catalogId}/{version}/{architecture}/metadata
  { id: 'catalog/revoke', endpoint: catalogRevoke }, // PATCH /v1/catalog/{catalogId}/{version}/{architecture}/revoke
  { id: 'catalog/remove-roles', endpoint: catalogRemoveRoles }, // DELETE /v1/catalog/{catalogId}/{version}/{architecture}/roles
  { id: 'catalog/add-roles', endpoint: catalogAddRoles }, // PATCH /v1/catalog/{catalogId}/{version}/{architecture}/roles
  { id: 'catalog/remove-tags', endpoint: catalogRemoveTags }, // DELETE /v1/catalog/{catalogId}/{version}/{architecture}/tags
  { id: 'catalog/add-tags', endpoint: catalogAddTags }, // PATCH /v1/catalog/{catalogId}/{version}/{architecture}/tags
  { id: 'catalog/taint', endpoint: catalogTaint }, // PATCH /v1/catalog/{catalogId}/{version}/{architecture}/taint
  { id: 'catalog/untaint', endpoint: catalogUntaint }, // PATCH /v1/catalog/{catalogId}/{version}/{architecture}/untaint
  { id: 'events/list', endpoint: eventsList }, // GET /v1/events
  { id: 'events/stream', endpoint: eventsStream }, // GET /v1/events/stream
  { id: 'health/system', endpoint: healthSystem }, // GET /v1/health/system
  { id: 'hosts/list', endpoint: hostsList }, // GET /v1/hosts
  { id: 'hosts/create', endpoint: hostsCreate }, // POST /v1/hosts
  { id: 'hosts/delete', endpoint: hostsDelete }, // DELETE /v1/hosts/{id}
  { id: 'hosts/show', endpoint: hostsShow }, // GET /v1/hosts/{id}
  { id: 'hosts/update', endpoint: hostsUpdate }, // PUT /v1/hosts/{id}
  { id: 'hosts/drain', endpoint: hostsDrain }, // PUT /v1/hosts/{id}/drain
  { id: 'hosts/heartbeat', endpoint: hostsHeartbeat }, // PUT /v1/hosts/{id}/heartbeat
  { id: 'hosts/pack', endpoint: hostsPack }, // GET /v1/hosts/{id}/packs/{job}
  { id: 'hosts/undrain', endpoint: hostsUndrain }, // PUT /v1/hosts/{id}/undrain
  { id: 'license/show', endpoint: licenseShow }, // GET /v1/hypervisor_desktop/key, GET /v1/parallels_desktop/key
  { id: 'images/list', endpoint: imagesList }, // GET /v1/images
  { id: 'images/create', endpoint: imagesCreate }, // POST /v1/images
  { id: 'images/delete', endpoint: imagesDelete }, // DELETE /v1/images/{id}
  { id: 'images/show', endpoint: imagesShow }, // GET /v1/images/{id}
  { id: 'images/show-upload', endpoint: imagesShowUpload }, // GET /v1/images/{name}/upload
  { id: 'images/upload', endpoint: imagesUpload }, // PUT /v1/images/{name}/upload
  { id: 'jobs/list', endpoint: jobsList }, // GET /v1/jobs
  { id: 'jobs/clean-up', endpoint: jobsCleanUp }, // DELETE /v1/jobs/cleanup
  { id: 'jobs/delete', endpoint: jobsDelete }, // DELETE /v1/jobs/{id}
  { id: 'jobs/show', endpoint: jobsShow }, // GET /v1/jobs/{id}
  { id: 'jobs/cancel', endpoint: jobsCancel }, // POST /v1/jobs/{id}/cancel
  { id: 'machines/list', endpoint: machinesList }, // GET /v1/machines
  { id: 'machines/create', endpoint: machinesCreate }, // POST /v1/machines
  { id: 'machines/delete', endpoint: machinesDelete }, // DELETE /v1/machines/{id}
  { id: 'machines/show', endpoint: machinesShow }, // GET /v1/machines/{id}
  { id: 'machines/clone', endpoint: machinesClone }, // PUT /v1/machines/{id}/clone
  { id: 'machines/delete-cloud-init', endpoint: machinesDeleteCloudInit }, // DELETE /v1/machines/{id}/cloud-init
  { id: 'machines/show-cloud-init', endpoint: machinesShowCloudInit }, // GET /v1/machines/{id}/cloud-init
  { id: 'machines/console', endpoint: machinesConsole }, // GET /v1/machines/{id}/console
  { id: 'machines/execute', endpoint: machinesExecute }, // PUT /v1/machines/{id}/execute
  { id: 'machines/read-file', endpoint: machinesReadFile }, // GET /v1/machines/{id}/files
  { id: 'machines/write-file', endpoint: machinesWriteFile }, // PUT /v1/machines/{id}/files
  { id: 'machines/fork', endpoint: machinesFork }, // POST /v1/machines/{id}/fork
  { id: 'machines/list-forwards', endpoint: machinesListForwards }, // GET /v1/machines/{id}/forwards
  { id: 'machines/add-forward', endpoint: machinesAddForward }, // POST /v1/machines/{id}/forwards
  { id: 'machines/remove-forward', endpoint: machinesRemoveForward }, // DELETE /v1/machines/{id}/forwards/{forward}
  { id: 'machines/pause', endpoint: machinesPause }, // GET /v1/machines/{id}/pause, PUT /v1/machines/{id}/pause
  { id: 'machines/reset', endpoint: machinesReset }, // GET /v1/machines/{id}/reset, PUT /v1/machines/{id}/reset
  { id: 'machines/restart', endpoint: machinesRestart }, // GET /v1/machines/{id}/restart, PUT /v1/machines/{id}/restart
  { id: 'machines/resume', endpoint: machinesResume }, // GET /v1/machines/{id}/resume, PUT /v1/machines/{id}/resume
  { id: 'machines/screen', endpoint: machinesScreen }, // GET /v1/machines/{id}/screen
  { id: 'machines/screenshot', endpoint: machinesScreenshot }, // GET /v1/machines/{id}/screenshot
  { id: 'machines/set', endpoint: machinesSet }, // PUT /v1/machines/{id}/set
  { id: 'snapshot-schedules/list', endpoint: snapshotSchedulesList }, // GET /v1/machines/{id}/snapshot-schedules
  { id: 'snapshot-schedules/delete', endpoint: snapshotSchedulesDelete }, // DELETE /v1/machines/{id}/snapshot-schedules/{schedule}
  { id: 'snapshot-schedules/set', endpoint: snapshotSchedulesSet }, // PUT /v1/machines/{id}/snapshot-schedules/{schedule}
  { id: 'machines/delete-snapshots', endpoint: machinesDeleteSnapshots }, // DELETE /v1/machines/{id}/snapshots
  { id: 'machines/list-snapshots', endpoint: machinesListSnapshots }, // GET /v1/machines/{id}/snapshots
  { id: 'machines/create-snapshot', endpoint: machinesCreateSnapshot }, // POST /v1/machines/{id}/snapshots
  { id: 'machines/delete-snapshot', endpoint: machinesDeleteSnapshot }, // DELETE /v1/machines/{id}/snapshots/{snapshot}
  { id: 'machines/show-snapshot', endpoint: machinesShowSnapshot }, // GET /v1/machines/{id}/snapshots/{snapshot}
  { id: 'machines/update-snapshot', endpoint: machinesUpdateSnapshot }, // PUT /v1/machines/{id}/snapshots/{snapshot}
  { id: 'machines/revert-to-snapshot', endpoint: machinesRevertToSnapshot }, // POST /v1/machines/{id}/snapshots/{snapshot}/revert
  { id: 'machines/start', endpoint: machinesStart }, // GET /v1/machines/{id}/start, PUT /v1/machines/{id}/start
  { id: 'machines/status', endpoint: machinesStatus }, // GET /v1/machines/{id}/status
  { id: 'machines/stop', endpoint: machinesStop }, // GET /v1/machines/{id}/stop, PUT /v1/machines/{id}/stop
  { id: 'machines/suspend', endpoint: machinesSuspend }, // GET /v1/machines/{id}/suspend, PUT /v1/machines/{id}/suspend
  { id: 'machines/tunnel', endpoint: machinesTunnel }, // GET /v1/machines/{id}/tunnel
  { id: 'machines/wait', endpoint: machinesWait }, // GET /v1/machines/{id}/wait
  { id: 'pools/list', endpoint: poolsList }, // GET /v1/pools
  { id: 'pools/create', endpoint: poolsCreate }, // POST /v1/pools
  { id: 'pools/delete', endpoint: poolsDelete }, // DELETE /v1/pools/{name}
  { id: 'pools/show', endpoint: poolsShow }, // GET /v1/pools/{name}
  { id: 'pools/update', endpoint: poolsUpdate }, // PUT /v1/pools/{name}
  { id: 'pools/claim', endpoint: poolsClaim }, // POST /v1/pools/{name}/claim
  { id: 'ssh/execute', endpoint: sshExecute }, // POST /v1/ssh/execute
  { id: 'user-configs/list', endpoint: userConfigsList }, // GET /v1/user/configs
  { id: 'user-configs/create', endpoint: userConfigsCreate }, // POST /v1/user/configs
  { id: 'user-configs/delete', endpoint: userConfigsDelete }, // DELETE /v1/user/configs/{id}
  { id: 'user-configs/show', endpoint: userConfigsShow }, // GET /v1/user/configs/{id}
  { id: 'user-configs/update', endpoint: userConfigsUpdate }, // PUT /v1/user/configs/{id}
  { id: 'events/clients', endpoint: eventsClients }, // GET /v1/ws/clients
  { id: 'events/stats', endpoint: eventsStats }, // GET /v1/ws/stats
  { id: 'events/subscribe', endpoint: eventsSubscribe }, // GET /v1/ws/subscribe
  { id: 'events/unsubscribe', endpoint: eventsUnsubscribe }, // POST /v1/ws/unsubscribe
] as const satisfies readonly Route[]

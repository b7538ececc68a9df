// Written by build/client.ts. Do not edit; run `npm run routes`.
/** Where each operation is served, as lib/client/table.ts reads it. */
export const packedTable = `audit list00api/v1/audit
auth publicKeys00.well-known/jwks.json createApiKey10api/v1/auth/api_keys listApiKeys03api_keys deleteApiKey44{id} showApiKey04{id} revokeApiKey25revoke rotateKey13key/rotate createLink13links useLink14use changePassword23password openSession13session showSession03session createTicket13tickets signIn13token signOut43token validateOwnToken04validate validateToken14validate
catalog list02catalog register12catalog garbage13 import23 importVm23import-vm pull23 pullAsync24async push13 pushAsync14async delete43{catalogId}/{version?}/{architecture?} show05{architecture?} addClaims34{version}/{architecture}/claims removeClaims46claims connect36connection download06 describe26metadata revoke36 addRoles36roles removeRoles46roles addTags36tags removeTags46tags taint36 untaint36
catalogCache clear43cache list03cache delete44{catalogId}/{version?}
catalogManagers create12catalog-managers list02catalog-managers delete43{id} show03{id} update23{id} catalogList04catalog catalogRegister14catalog catalogImport25import catalogImportVm25import-vm catalogPull25pull catalogPullAsync26async catalogPush15push catalogPushAsync16async catalogDelete45{catalogId}/{version?}/{architecture?} catalogShow07{architecture?} catalogAddClaims36{version}/{architecture}/claims catalogRemoveClaims48claims catalogConnect38connection catalogDownload08download catalogDescribe28metadata catalogRevoke38revoke catalogAddRoles38roles catalogRemoveRoles48roles catalogAddTags38tags catalogRemoveTags48tags catalogTaint38taint catalogUntaint38untaint
claims create12auth/claims list03claims listGrouped04grouped delete44{id} show04{id}
events list02events stream03 clients02ws/clients stats03 subscribe53 unsubscribe13
health probe01health/probe system01v1/health/system
hosts create12hosts list02hosts delete43{id} show03{id} update23{id} drain24 heartbeat24 pack04packs/{job} undrain24
images create12images list02images delete43{id} show03{id} showUpload03{name}/upload upload24
jobs list02jobs cleanUp43cleanup delete43{id} show03{id} cancel14
license show02hypervisor_desktop/key
machines create12machines list02machines delete43{id} show03{id} clone24 deleteCloudInit44cloud-init showCloudInit04cloud-init console54 execute24 readFile04files writeFile24files fork14 addForward14forwards listForwards04forwards removeForward45{forward} pause24 reset24 restart24 resume24 screen54 screenshot04 set24 createSnapshot14snapshots deleteSnapshots44snapshots listSnapshots04snapshots deleteSnapshot45{snapshot} showSnapshot05{snapshot} updateSnapshot25{snapshot} revertToSnapshot16revert start24 status04 stop24 suspend24 tunnel54 wait04
metrics show00metrics
openapi show00api/openapi.json
pools create11v1/pools list02pools delete43{name} show03{name} update23{name} claim14
roles create12auth/roles list03roles delete44{id} show04{id} addClaim15claims listClaims05claims removeClaim46{claim}
snapshotSchedules list02machines/{id}/snapshot-schedules delete45{schedule} set25{schedule}
ssh execute12ssh/execute
userConfigs create12user/configs list03configs delete44{id} show04{id} update24{id}
users create12auth/users list03users delete44{id} show04{id} update24{id} giveClaim15claims listClaims05claims takeClaim46{claim} unlock45lock giveRole15roles listRoles05roles takeRole46{role}`

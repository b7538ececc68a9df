import json
import os

from client import AuthenticatedClient, Client
from client.api.auth import auth_sign_in
from client.api.catalog import catalog_list
from client.api.machines import (
    machines_create,
    machines_delete,
    machines_list,
    machines_start_put,
    machines_status,
    machines_stop_put,
)
from client.api.metrics import metrics_show
from client.api.users import users_list
from client.models import AuthSignInBody, MachinesCreateBody

url = os.environ["URL"]
session = auth_sign_in.sync(
    client=Client(base_url=url),
    body=AuthSignInBody(email="root", password=os.environ["PASSWORD"]),
)
client = AuthenticatedClient(base_url=url, token=session.token)
before = machines_list.sync(client=client)
created = machines_create.sync_detailed(
    client=client,
    body=MachinesCreateBody(name="client", memory=16, kernel=os.environ["KERNEL"]),
)
started = machines_start_put.sync("client", client=client)
status = machines_status.sync("client", client=client)
stopped = machines_stop_put.sync("client", client=client, force="true")
deleted = machines_delete.sync_detailed("client", client=client)
manifests = catalog_list.sync(client=client)
users = users_list.sync(client=client)
metrics = metrics_show.sync(client=client)

print(
    json.dumps(
        [
            session.email,
            len(before),
            created.status_code,
            started.operation,
            status.status,
            stopped.operation,
            deleted.status_code,
            len(manifests),
            users[0].username,
            metrics.startswith("# HELP"),
        ]
    )
)

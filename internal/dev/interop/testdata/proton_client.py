"""proton_client.py: a small AMQP 1.0 client on Qpid Proton, which shares no code with ours.

send ADDRESS COUNT SIZE      sends text messages and prints the outcomes
receive ADDRESS COUNT HOW    takes COUNT messages, settles each with HOW (accept, reject, release), prints what came
Both print JSON. The broker is $AMQP_URL.
"""
import collections
import json
import os
import sys

from proton import Delivery, Message
from proton.handlers import MessagingHandler
from proton.reactor import Container


class Sender(MessagingHandler):
    def __init__(self, address, count, size):
        super().__init__()
        self.address, self.count, self.size = address, count, size
        self.sent, self.outcomes = 0, collections.Counter()

    def on_start(self, event):
        self.connection = event.container.connect(os.environ["AMQP_URL"], reconnect=False)
        event.container.create_sender(self.connection, self.address)

    def on_sendable(self, event):
        while event.sender.credit and self.sent < self.count:
            event.sender.send(Message(id=self.sent, body="x" * self.size))
            self.sent += 1

    def settled(self, name, event):
        self.outcomes[name] += 1
        if sum(self.outcomes.values()) == self.count:
            event.connection.close()

    def on_accepted(self, event):
        self.settled("accepted", event)

    def on_rejected(self, event):
        self.settled("rejected", event)

    def on_released(self, event):
        self.settled("released", event)

    def on_transport_error(self, event):
        sys.exit(f"transport: {event.transport.condition}")

    def on_link_error(self, event):
        sys.exit(f"link: {event.link.remote_condition}")

    def result(self):
        return {"outcomes": dict(self.outcomes)}


class Receiver(MessagingHandler):
    def __init__(self, address, count, how):
        super().__init__(auto_accept=False, prefetch=min(count, 100))
        self.address, self.count, self.how = address, count, how
        self.sizes, self.delivery_counts, self.kinds = collections.Counter(), collections.Counter(), collections.Counter()

    def on_start(self, event):
        self.connection = event.container.connect(os.environ["AMQP_URL"], reconnect=False)
        event.container.create_receiver(self.connection, self.address)

    def on_message(self, event):
        if sum(self.sizes.values()) == self.count:
            return
        self.sizes[len(event.message.body)] += 1
        self.kinds[type(event.message.body).__name__] += 1
        self.delivery_counts[event.message.delivery_count] += 1
        state = {"accept": Delivery.ACCEPTED, "reject": Delivery.REJECTED, "release": Delivery.RELEASED}[self.how]
        event.delivery.update(state)
        event.delivery.settle()
        if sum(self.sizes.values()) == self.count:
            event.connection.close()

    def on_transport_error(self, event):
        sys.exit(f"transport: {event.transport.condition}")

    def on_link_error(self, event):
        sys.exit(f"link: {event.link.remote_condition}")

    def result(self):
        return {"sizes": self.sizes, "delivery_counts": self.delivery_counts, "kinds": self.kinds}


def main():
    verb, address, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    handler = Sender(address, count, int(sys.argv[4])) if verb == "send" else Receiver(address, count, sys.argv[4])
    Container(handler).run()
    print(json.dumps(handler.result()))


main()

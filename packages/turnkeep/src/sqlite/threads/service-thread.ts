import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../core/errors.ts';
import type { FromService, ServiceStart, ToService } from './service-messages.ts';
import { StoreService } from './store-service.ts';

// The service thread: searches, checks and upkeep, each in steps, so that none waits long for another.

const port = parentPort;
assert(port, 'the service runs in a thread of its own');
const service = new StoreService(workerData as ServiceStart, (message: FromService) => port.postMessage(message));

port.on('message', (message: ToService) => {
  switch (message.kind) {
    case 'call':
      return void service.call(message.id, message.call);
    case 'cancel':
      return service.cancel(message.id);
    case 'wrote':
      return service.wrote(message.pages);
    case 'close':
      port.close();
      return void service.close();
  }
});

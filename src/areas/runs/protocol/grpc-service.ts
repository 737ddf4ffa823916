import { create, fromBinary, toBinary, type DescMethod, type DescService, type Message } from '@bufbuild/protobuf';
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';

/** A generated service in the form that grpc-js serves and calls: path, and how messages become bytes. */
export function grpcService(service: DescService): ServiceDefinition {
  return Object.fromEntries(service.methods.map((method) => [method.localName, methodDefinition(service, method)]));
}

function methodDefinition(service: DescService, method: DescMethod): MethodDefinition<Message, Message> {
  // Callers may hand in plain objects with the fields they care about.
  const encode = (schema: DescMethod['input']) => (message: Message) => Buffer.from(toBinary(schema, create(schema, message)));
  const decode = (schema: DescMethod['input']) => (bytes: Buffer) => fromBinary(schema, bytes);
  return {
    path: `/${service.typeName}/${method.name}`,
    requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
    requestSerialize: encode(method.input),
    requestDeserialize: decode(method.input),
    responseSerialize: encode(method.output),
    responseDeserialize: decode(method.output),
  };
}

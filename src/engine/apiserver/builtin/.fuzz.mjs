// ../../tmp/ssafuzz.ts
import { execFileSync } from "node:child_process";

// src/kube/json-value.ts
function isJsonObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function setField(target, key, value) {
  if (key === "__proto__") Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}
function deepCopy(value) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const copy2 = value.slice();
    for (let i = 0; i < copy2.length; i++) if (typeof copy2[i] === "object") copy2[i] = deepCopy(copy2[i]);
    return copy2;
  }
  const copy = {};
  for (const key in value) {
    const field = value[key];
    if (typeof field !== "object" || field === null) {
      if (key === "__proto__") setField(copy, key, field);
      else copy[key] = field;
    } else setField(copy, key, deepCopy(field));
  }
  return copy;
}
function deepEqual(a, b) {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!deepEqual(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  let fields = 0;
  for (const key in a) {
    if (!Object.hasOwn(b, key) || !deepEqual(a[key], b[key])) return false;
    fields++;
  }
  for (const _ in b) fields--;
  return fields === 0;
}

// src/kube/object.ts
function toApiVersion(group, version) {
  return group === "" ? version : `${group}/${version}`;
}

// src/kube/go-text.ts
var PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
var PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
var SHORT_ESCAPES = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "	": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"'
};
function escapeCharacter(character) {
  const short = SHORT_ESCAPES[character];
  if (short !== void 0) return short;
  if (PRINTABLE.test(character)) return character;
  const code = character.codePointAt(0);
  if (code < 32 || code === 127) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code >= 55296 && code <= 57343) return "\\ufffd";
  return code < 65536 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}
function quote(text2) {
  if (PLAIN.test(text2)) return `"${text2}"`;
  let quoted = '"';
  for (const character of text2) quoted += escapeCharacter(character);
  return `${quoted}"`;
}
function printNumber(value) {
  if (Object.is(value, -0)) return "-0";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  const size = Math.abs(value);
  if (size === 0 || size >= 1e-4 && size < 1e21) return String(value);
  const [mantissa, exponent] = value.toExponential().split("e");
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}
var HTML_SENSITIVE = /[<>&\u2028\u2029]/g;
function marshal(value) {
  const text2 = JSON.stringify(value) ?? "null";
  return text2.replace(HTML_SENSITIVE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
function printStrings(values) {
  return `[]string{${values.map(quote).join(", ")}}`;
}
function byteLength(text2) {
  let bytes = text2.length;
  for (let i = 0; i < text2.length; i++) {
    const code = text2.charCodeAt(i);
    if (code < 128) continue;
    if (code < 2048) bytes += 1;
    else if (code < 55296 || code > 56319) bytes += 2;
    else {
      const next = text2.charCodeAt(i + 1);
      bytes += 2;
      if (next >= 56320 && next <= 57343) i++;
    }
  }
  return bytes;
}
function compareText(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
function printAny(value) {
  if (value === null || value === void 0) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(printAny).join(" ")}]`;
  if (typeof value === "number") return printNumber(value);
  if (typeof value !== "object") return String(value);
  const fields = Object.entries(value).sort(([a], [b]) => compareText(a, b));
  return `map[${fields.map(([key, field]) => `${key}:${printAny(field)}`).join(" ")}]`;
}

// src/kube/status.ts
var REASON_CODES = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  ServerTimeout: 500,
  Timeout: 504
};
var StatusError = class extends Error {
  status;
  constructor(status, options) {
    super(status.message ?? status.reason ?? "unknown", options);
    this.name = "StatusError";
    this.status = status;
  }
  get code() {
    return this.status.code;
  }
  get reason() {
    return this.status.reason ?? "";
  }
};
function failure(reason, message, details, code = reason === "" ? 500 : REASON_CODES[reason]) {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message };
  if (reason !== "") status.reason = reason;
  if (details) status.details = details;
  status.code = code;
  return new StatusError(status);
}
function badRequestError(message) {
  return failure("BadRequest", message);
}

// src/kube/time.ts
function formatTime(date) {
  return `${date.toISOString().slice(0, 19)}Z`;
}

// src/engine/apiserver/apply/path-element.ts
var MAX_INTERNED = 4096;
var interned = /* @__PURE__ */ new Map();
function fieldElement(name) {
  let element = interned.get(name);
  if (element === void 0) {
    element = `f:${name}`;
    if (interned.size >= MAX_INTERNED) interned.clear();
    if (name.length < 256) interned.set(name, element);
  }
  return element;
}
function valueElement(value) {
  return `v:${marshal(value)}`;
}
function keyElement(fields) {
  return `k:{${fields.map(([name, value]) => `${marshal(name)}:${marshal(value)}`).join(",")}}`;
}
function kindOrder(element) {
  return "fkvi".indexOf(element[0]);
}
function compareElements(a, b) {
  const kinds = kindOrder(a) - kindOrder(b);
  if (kinds !== 0) return kinds;
  switch (a[0]) {
    case "f":
      return compareText(a, b);
    case "i":
      return Number(a.slice(2)) - Number(b.slice(2));
    case "k":
      return compareKeys(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)));
    default:
      return compareValues(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)));
  }
}
function compareKeys(a, b) {
  const [left, right] = [Object.entries(a), Object.entries(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = compareText(left[i][0], right[i][0]) || compareValues(left[i][1], right[i][1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
var VALUE_KINDS = ["number", "string", "boolean"];
function compareValues(a, b) {
  if (typeof a !== typeof b) return VALUE_KINDS.indexOf(typeof a) - VALUE_KINDS.indexOf(typeof b);
  if (typeof a === "number") return a - b;
  return compareText(String(a), String(b));
}
function canonicalElement(text2) {
  if (text2.length < 2) throw new Error("key must be 2 characters long:");
  if (text2[1] !== ":") throw new Error(`missing colon: ${text2}`);
  switch (text2[0]) {
    case "f":
      return text2;
    case "v":
      return valueElement(JSON.parse(text2.slice(2)));
    case "k": {
      const key = JSON.parse(text2.slice(2));
      if (typeof key !== "object" || key === null || Array.isArray(key)) throw new Error(`invalid key: ${text2}`);
      return keyElement(Object.entries(key).sort(([a], [b]) => compareText(a, b)));
    }
    case "i":
      if (!/^i:[+-]?\d+$/.test(text2)) throw new Error(`strconv.Atoi: parsing ${quote(text2.slice(2))}: invalid syntax`);
      return `i:${Number(text2.slice(2))}`;
    default:
      return void 0;
  }
}
function printScalar(value) {
  return typeof value === "string" ? quote(value) : printAny(value);
}
function printElement(element) {
  const rest = element.slice(2);
  switch (element[0]) {
    case "f":
      return `.${rest}`;
    case "k": {
      const fields = Object.entries(JSON.parse(rest));
      return `[${fields.map(([name, value]) => `${name}=${printScalar(value)}`).join(",")}]`;
    }
    case "v":
      return `[=${printScalar(JSON.parse(rest))}]`;
    default:
      return `[${rest}]`;
  }
}

// src/engine/apiserver/apply/list-items.ts
var ItemError = class extends Error {
};
function itemElement(list, item) {
  if (list.keys.length > 0) return keyedElement(list, item);
  if (item === null) throw new ItemError("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) throw new ItemError("not supported: associative list with lists as elements");
  if (typeof item === "object") throw new ItemError("associative list without keys has an element that's a map type");
  return valueElement(item);
}
function keyedElement(list, item) {
  if (item === null) throw new ItemError("associative list with keys may not have a null element");
  if (!isJsonObject(item)) throw new ItemError("associative list with keys may not have non-map elements");
  const fields = [];
  for (const key of list.keys) {
    const value = Object.hasOwn(item, key) ? item[key] : list.keyDefault(key);
    if (value !== void 0) fields.push([key, value]);
  }
  if (fields.length === 0) {
    const names = printStrings(list.keys).slice("[]string{".length, -1).replaceAll(", ", " ");
    const detail = "(and doesn't have default values for any key fields)";
    throw new ItemError(`associative list with keys has an element that omits all key fields [${names}] ${detail}`);
  }
  return keyElement(fields);
}
function itemsByElement(list, items) {
  const byElement = /* @__PURE__ */ new Map();
  for (const item of items) {
    let element;
    try {
      element = itemElement(list, item);
    } catch (error) {
      if (error instanceof ItemError) continue;
      throw error;
    }
    const same = byElement.get(element);
    if (same === void 0) byElement.set(element, [item]);
    else same.push(item);
  }
  return byElement;
}

// src/engine/apiserver/apply/value-type.ts
var NO_DEFAULT = () => void 0;
var UNDECLARED = () => void 0;
var UNTYPED_ATOMIC = {
  scalar: "untyped",
  get list() {
    return { atomic: true, keys: [], element: UNTYPED_ATOMIC, keyDefault: NO_DEFAULT };
  },
  get map() {
    return { atomic: true, field: UNDECLARED, additional: UNTYPED_ATOMIC };
  }
};
var DEDUCED_LIST = { atomic: true, keys: [], element: UNTYPED_ATOMIC, keyDefault: NO_DEFAULT };
var DEDUCED = {
  scalar: "untyped",
  list: DEDUCED_LIST,
  get map() {
    return DEDUCED_MAP;
  }
};
var DEDUCED_MAP = { atomic: false, field: UNDECLARED, additional: DEDUCED };
var UNTYPED_SCALAR = { scalar: "untyped" };
var BUILTIN_KEY_DEFAULTS = {
  "io.k8s.api.core.v1.ContainerPort": { protocol: "TCP" },
  "io.k8s.api.core.v1.ServicePort": { protocol: "TCP" }
};
var refName = (node) => {
  const ref = node.$ref ?? (node.allOf?.length === 1 ? node.allOf[0].$ref : void 0) ?? "";
  return ref.slice(ref.lastIndexOf("/") + 1);
};
function scalarOf(schema) {
  switch (schema.type) {
    case "integer":
    case "number":
      return "numeric";
    case "boolean":
      return "boolean";
    case "string":
      return schema.format === void 0 || schema.format === "" || schema.format === "byte" ? "string" : "untyped";
    case "object":
    case "array":
      return void 0;
    default:
      return "untyped";
  }
}
var SchemaType = class {
  scalar;
  list;
  map;
  constructor(schema, types, mapType, preserves) {
    const untyped = schema.type === void 0 || schema.type === "";
    this.scalar = scalarOf(schema);
    if (untyped || schema.type === "array") this.list = new SchemaList(schema, types, preserves);
    if (untyped || schema.type === "object") this.map = new SchemaMap(schema, types, mapType, preserves);
  }
};
function listRelation(schema) {
  const listType = schema["x-kubernetes-list-type"];
  if (listType === "map") return { atomic: false, keys: [...schema["x-kubernetes-list-map-keys"] ?? []].sort() };
  if (listType !== void 0) return { atomic: listType !== "set", keys: [] };
  const strategy = schema["x-kubernetes-patch-strategy"];
  if (strategy !== "merge" && strategy !== "merge,retainKeys") return { atomic: true, keys: [] };
  const mergeKey = schema["x-kubernetes-patch-merge-key"];
  return { atomic: false, keys: mergeKey === void 0 ? [] : [mergeKey] };
}
var SchemaList = class {
  atomic;
  keys;
  #items;
  #types;
  #preserves;
  #element;
  constructor(schema, types, preserves) {
    const { atomic, keys } = listRelation(schema);
    this.atomic = atomic;
    this.keys = keys;
    this.#items = schema.items;
    this.#types = types;
    this.#preserves = preserves;
  }
  get element() {
    this.#element ??= this.#items === void 0 ? UNTYPED_ATOMIC : this.#types.of(this.#items, this.#preserves);
    return this.#element;
  }
  keyDefault(name) {
    if (this.#items === void 0) return void 0;
    const item = this.#types.resolve(this.#items);
    const property = item.properties?.[name];
    const known2 = property?.default ?? BUILTIN_KEY_DEFAULTS[refName(this.#items)]?.[name];
    if (known2 !== void 0 || property === void 0 || refName(this.#items) === "") return known2;
    if (!item.required?.includes(name)) return void 0;
    return property.type === "string" ? "" : property.type === "integer" ? 0 : void 0;
  }
};
var SchemaMap = class {
  atomic;
  #schema;
  #types;
  #preserves;
  #fields = /* @__PURE__ */ new Map();
  #additional = null;
  constructor(schema, types, mapType, preserves) {
    this.atomic = (mapType ?? schema["x-kubernetes-map-type"]) === "atomic";
    this.#schema = schema;
    this.#types = types;
    this.#preserves = preserves;
  }
  field(name) {
    const known2 = this.#fields.get(name);
    if (known2 !== void 0) return known2;
    const { properties } = this.#schema;
    if (properties === void 0 || !Object.hasOwn(properties, name)) return void 0;
    const made = { element: fieldElement(name), type: this.#types.of(properties[name], this.#preserves) };
    this.#fields.set(name, made);
    return made;
  }
  get additional() {
    if (this.#additional === null) this.#additional = this.#makeAdditional();
    return this.#additional;
  }
  #makeAdditional() {
    const { additionalProperties, properties } = this.#schema;
    if (typeof additionalProperties === "object") return this.#types.of(additionalProperties, this.#preserves);
    if (additionalProperties !== void 0) return additionalProperties ? DEDUCED : void 0;
    const open = this.#preserves || properties === void 0 || Object.keys(properties).length === 0;
    return open ? DEDUCED : void 0;
  }
};
var TypesOf = class {
  resolve;
  #plain = /* @__PURE__ */ new WeakMap();
  #preserving = /* @__PURE__ */ new WeakMap();
  constructor(resolve) {
    this.resolve = resolve;
  }
  of(node, inheritsPreserve) {
    const cache = inheritsPreserve ? this.#preserving : this.#plain;
    let type = cache.get(node);
    if (type === void 0) cache.set(node, type = this.#make(node, inheritsPreserve));
    return type;
  }
  #make(node, inheritsPreserve) {
    const name = refName(node);
    if (name === "io.k8s.apimachinery.pkg.api.resource.Quantity") return UNTYPED_SCALAR;
    if (name === "io.k8s.apimachinery.pkg.runtime.RawExtension") return UNTYPED_ATOMIC;
    const schema = this.resolve(node);
    const preserves = name === "" && inheritsPreserve || schema["x-kubernetes-preserve-unknown-fields"] === true;
    return new SchemaType(schema, this, name === "" ? void 0 : node["x-kubernetes-map-type"], preserves);
  }
};
var families = /* @__PURE__ */ new WeakMap();
function typeOfSchema(schema, resolve) {
  let family = families.get(resolve);
  if (family === void 0) families.set(resolve, family = new TypesOf(resolve));
  return family.of(schema, false);
}
function sideOf(type, value) {
  if (value !== null && value !== void 0) {
    if (Array.isArray(value)) {
      if (type.list) return "list";
    } else if (typeof value === "object") {
      if (type.map) return "map";
    } else if (type.scalar) return "scalar";
  }
  return type.map ? "map" : type.scalar ? "scalar" : "list";
}

// src/engine/apiserver/apply/configuration-check.ts
function typeFindings(type, value, options = {}) {
  const check = new Check(options.allowDuplicates ?? false);
  check.value(type, value, "");
  return check.findings;
}
function joinFindings(findings) {
  return findings.length === 1 ? findings[0] : ["errors:", ...findings.map((finding) => `  ${finding}`)].join("\n");
}
var Check = class {
  findings = [];
  #allowDuplicates;
  constructor(allowDuplicates) {
    this.#allowDuplicates = allowDuplicates;
  }
  value(type, value, path) {
    switch (sideOf(type, value)) {
      case "map":
        if (isJsonObject(value)) this.#map(type.map, value, path);
        else if (value !== null) this.#add(path, `expected map, got ${printGot(value)}`);
        return;
      case "list":
        if (Array.isArray(value)) this.#list(type.list, value, path);
        else if (value !== null) this.#add(path, `expected list, got ${printGot(value)}`);
        return;
      case "scalar":
      default:
        if (value !== null) this.#scalar(type.scalar, value, path);
    }
  }
  #add(path, message) {
    this.findings.push(path === "" ? message : `${path}: ${message}`);
  }
  #scalar(kind, value, path) {
    const actual = typeof value;
    if (kind === "numeric" && actual !== "number") this.#add(path, `expected numeric (int or float), got ${goType(value)}`);
    else if (kind === "string" && actual !== "string")
      this.#add(path, `expected string, got &value.valueUnstructured{Value:${marshal(value)}}`);
    else if (kind === "boolean" && actual !== "boolean") this.#add(path, `expected boolean, got ${printGot(value)}`);
    else if (kind === "untyped" && actual === "object") this.#add(path, `expected any scalar, got ${printGot(value)}`);
  }
  #map(map, value, path) {
    for (const name in value) {
      const type = map.field(name)?.type ?? map.additional;
      const below2 = path + printElement(fieldElement(name));
      if (type === void 0) {
        this.#add(below2, "field not declared in schema");
        return;
      }
      this.value(type, value[name], below2);
    }
  }
  #list(list, value, path) {
    const seen = /* @__PURE__ */ new Set();
    for (let index = 0; index < value.length; index++) {
      let element = `i:${index}`;
      if (!list.atomic) {
        try {
          element = itemElement(list, value[index]);
        } catch (error) {
          if (!(error instanceof ItemError)) throw error;
          this.#add(path, `element ${index}: ${error.message}`);
          return;
        }
        if (seen.has(element) && !this.#allowDuplicates) this.#add(path, `duplicate entries for key ${printElement(element)}`);
        seen.add(element);
      }
      this.value(list.element, value[index], path + printElement(element));
    }
  }
};
function printGot(value) {
  return `&{${printAny(value)}}`;
}
function goType(value) {
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  return Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
}

// src/engine/apiserver/apply/field-set.ts
var LEAF = Object.freeze({});
var SELF = ".";
function hasKeys(set) {
  for (const _ in set) return true;
  return false;
}
function isMember(node) {
  return node !== void 0 && (node[SELF] !== void 0 || !hasKeys(node));
}
function isEmptySet(set) {
  return set === void 0 || !hasKeys(set);
}
function childrenOf(node) {
  if (node[SELF] === void 0) return hasKeys(node) ? node : void 0;
  const children = {};
  let found = false;
  for (const element in node) {
    if (element === SELF) continue;
    children[element] = node[element];
    found = true;
  }
  return found ? children : void 0;
}
function nodeOf(member, children) {
  if (children === void 0 || !hasKeys(children)) return member ? LEAF : void 0;
  return member ? { [SELF]: LEAF, ...children } : children;
}
function inOrder(level) {
  let previous = "";
  for (const element in level) {
    if (element === SELF) continue;
    if (previous !== "" && !follows(previous, element)) return sorted(level);
    previous = element;
  }
  return level;
}
function follows(previous, next) {
  if (previous.charCodeAt(0) === 102 && next.charCodeAt(0) === 102) return previous < next;
  return compareElements(previous, next) < 0;
}
function sorted(level) {
  const elements = Object.keys(level);
  const onlyFields = elements.every((element) => element === SELF || element.charCodeAt(0) === 102);
  if (onlyFields) elements.sort();
  else elements.sort((a, b) => a === SELF ? -1 : b === SELF ? 1 : compareElements(a, b));
  const result = {};
  for (const element of elements) result[element] = level[element];
  return result;
}
function union(a, b) {
  if (a === void 0 || a === b) return b;
  if (b === void 0) return a;
  const result = { ...a };
  let added = false;
  for (const element in b) {
    if (element === SELF) continue;
    const mine = a[element];
    if (mine === void 0) {
      result[element] = b[element];
      added = true;
    } else if (mine !== b[element]) {
      const member = isMember(mine) || isMember(b[element]);
      result[element] = nodeOf(member, union(childrenOf(mine), childrenOf(b[element])));
    }
  }
  return added ? inOrder(result) : result;
}
function difference(a, b) {
  if (a === void 0 || b === void 0 || !intersects(a, b)) return a;
  const result = {};
  for (const element in a) {
    if (element === SELF) continue;
    const other = b[element];
    if (other === void 0) result[element] = a[element];
    else {
      const node = nodeOf(isMember(a[element]) && !isMember(other), difference(childrenOf(a[element]), childrenOf(other)));
      if (node !== void 0) result[element] = node;
    }
  }
  return hasKeys(result) ? result : void 0;
}
function intersection(a, b) {
  if (a === void 0 || b === void 0) return void 0;
  const result = {};
  for (const element in a) {
    const other = b[element];
    if (element === SELF || other === void 0) continue;
    const node = nodeOf(isMember(a[element]) && isMember(other), intersection(childrenOf(a[element]), childrenOf(other)));
    if (node !== void 0) result[element] = node;
  }
  return hasKeys(result) ? result : void 0;
}
function intersects(a, b) {
  for (const element in b) {
    const mine = a[element];
    if (mine === void 0 || element === SELF) continue;
    const other = b[element];
    if (isMember(mine) && isMember(other)) return true;
    if (intersects(mine, other)) return true;
  }
  return false;
}
function covers(a, b) {
  for (const element in b) {
    if (element === SELF) continue;
    const mine = a[element];
    if (mine === void 0) return false;
    const other = b[element];
    if (isMember(other) && !isMember(mine)) return false;
    if (!covers(mine, other)) return false;
  }
  return true;
}
function forEachPath(set, visit, prefix = []) {
  for (const element in set) if (element !== SELF && isMember(set[element])) visit([...prefix, element]);
  for (const element in set) {
    if (element !== SELF) forEachPath(childrenOf(set[element]), visit, [...prefix, element]);
  }
}
var MAX_DEPTH = 500;
function readFieldSet(value) {
  const node = readNode(value, 0);
  return node === LEAF ? void 0 : childrenOf(node);
}
function readNode(value, depth) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("a set of fields must be an object");
  if (depth > MAX_DEPTH) throw new Error("a set of fields nests too deeply");
  const children = {};
  let member = false;
  for (const [key, below2] of Object.entries(value)) {
    if (key === SELF) {
      member = true;
      continue;
    }
    const element = canonicalElement(key);
    if (element !== void 0) children[element] = readNode(below2, depth + 1);
  }
  return hasKeys(children) ? nodeOf(member, inOrder(children)) : LEAF;
}

// src/engine/apiserver/apply/conflicts.ts
function printManager({ manager, operation, apiVersion, subresource }) {
  const name = quote(manager ?? "") + (subresource ? ` with subresource ${quote(subresource)}` : "");
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
function pathsOf(fields) {
  const paths = [];
  forEachPath(fields, (path) => paths.push(path.map(printElement).join("")));
  return paths;
}
function conflictRefusal(conflicts2) {
  const found = conflicts2.map(({ entry, fields }) => ({ manager: printManager(entry), paths: pathsOf(fields) })).sort((a, b) => compareText(a.manager, b.manager));
  const causes = found.flatMap(
    ({ manager, paths }) => paths.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${manager}`, field }))
  );
  const list = found.map(({ manager, paths }) => [`conflicts with ${manager}:`, ...paths.map((path) => `- ${path}`)].join("\n")).join("\n");
  const message = causes.length === 1 ? `Apply failed with 1 conflict: ${causes[0].message}: ${causes[0].field}` : `Apply failed with ${causes.length} conflicts: ${list}`;
  return failure("Conflict", message, { causes });
}

// src/engine/apiserver/apply/field-difference.ts
var NOTHING = [];
var NO_FIELDS = {};
function difference2(type, before, after, ignored) {
  const levels = {};
  if (type.map !== void 0) compareFields(type.map, before ?? NO_FIELDS, after ?? NO_FIELDS, ignored, levels);
  const result = {};
  if (levels.changed) result.changed = inOrder(levels.changed);
  if (levels.removed) result.removed = inOrder(levels.removed);
  return result;
}
function compareFields(map, before, after, ignored, out2) {
  for (const name in after) {
    const below2 = ignored?.[name];
    if (below2 === true) continue;
    const now = after[name];
    const then = Object.hasOwn(before, name) ? before[name] : void 0;
    if (now === then) continue;
    const field = map.field(name);
    const type = field?.type ?? map.additional;
    if (type === void 0) continue;
    const element = field?.element ?? fieldElement(name);
    if (then === void 0) addTo(out2, "changed", element, below2 === void 0 ? everything(type, now) : partly(type, now, below2));
    else compareValues2(type, then, now, below2, element, out2);
  }
  for (const name in before) {
    if (Object.hasOwn(after, name)) continue;
    const below2 = ignored?.[name];
    if (below2 === true) continue;
    const field = map.field(name);
    const type = field?.type ?? map.additional;
    if (type === void 0) continue;
    const element = field?.element ?? fieldElement(name);
    addTo(out2, "removed", element, below2 === void 0 ? everything(type, before[name]) : partly(type, before[name], below2));
  }
}
function addTo(out2, side, element, node) {
  if (node !== void 0) (out2[side] ??= {})[element] = node;
}
function compareValues2(type, then, now, ignored, element, out2) {
  const side = sideOf(type, now === null ? then : now);
  const before = sideOf(type, then === null ? now : then);
  const below2 = {};
  let self = false;
  if (side !== before) {
    self = true;
    below2.removed = contents(type, then);
    below2.changed = contents(type, now);
  } else if (side === "scalar") self = !deepEqual(then, now);
  else if (side === "map") self = compareMaps(type.map, then, now, ignored, below2);
  else self = compareLists(type.list, then, now, below2);
  addTo(out2, "changed", element, nodeOf(self, below2.changed && inOrder(below2.changed)));
  addTo(out2, "removed", element, nodeOf(false, below2.removed && inOrder(below2.removed)));
}
function compareMaps(map, then, now, ignored, out2) {
  const bothEmpty = isNothing(then) && isNothing(now);
  if (map.atomic || bothEmpty) return !deepEqual(then, now);
  compareFields(map, isJsonObject(then) ? then : NO_FIELDS, isJsonObject(now) ? now : NO_FIELDS, ignored, out2);
  return false;
}
function isNothing(value) {
  if (value === null || value === void 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}
function compareLists(list, then, now, out2) {
  if (deepEqual(then, now)) return false;
  if (list.atomic || isNothing(then) && isNothing(now)) return true;
  const before = itemsByElement(list, then ?? NOTHING);
  const after = itemsByElement(list, now ?? NOTHING);
  for (const [element, items] of after) compareItems(list.element, before.get(element), items, element, out2);
  for (const [element, items] of before) {
    if (!after.has(element)) addTo(out2, "removed", element, items.length > 1 ? LEAF : everything(list.element, items[0]));
  }
  return false;
}
function compareItems(type, before, after, element, out2) {
  if (before === void 0) addTo(out2, "changed", element, after.length > 1 ? LEAF : everything(type, after[0]));
  else if (before.length === 1 && after.length === 1) {
    if (before[0] !== after[0]) compareItemValues(type, before[0], after[0], element, out2);
  } else if (before.length > 1 && after.length > 1) {
    if (!deepEqual(before, after)) addTo(out2, "changed", element, LEAF);
  } else if (before.length > 1) {
    addTo(out2, "changed", element, everything(type, after[0]));
    addTo(out2, "removed", element, LEAF);
  } else {
    addTo(out2, "removed", element, everything(type, before[0]));
    addTo(out2, "changed", element, LEAF);
  }
}
function compareItemValues(type, then, now, element, out2) {
  if (typeof now !== "object" && typeof then !== "object") {
    addTo(out2, "changed", element, LEAF);
    return;
  }
  compareValues2(type, then, now, void 0, element, out2);
}
function everything(type, value) {
  const below2 = contents(type, value);
  return below2 === void 0 ? LEAF : { ".": LEAF, ...inOrder(below2) };
}
function partly(type, value, ignored) {
  if (type.map === void 0 || !isJsonObject(value)) return void 0;
  const levels = {};
  compareFields(type.map, NO_FIELDS, value, ignored, levels);
  return levels.changed && inOrder(levels.changed);
}
function contents(type, value) {
  if (typeof value !== "object" || value === null) return void 0;
  if (Array.isArray(value)) return listContents(type, value);
  const { map } = type;
  if (map === void 0 || map.atomic) return void 0;
  let level;
  for (const name in value) {
    const field = map.field(name);
    const fieldType = field?.type ?? map.additional;
    if (fieldType === void 0) continue;
    const item = value[name];
    level ??= {};
    level[field?.element ?? fieldElement(name)] = typeof item === "object" ? everything(fieldType, item) : LEAF;
  }
  return level;
}
function listContents({ list }, value) {
  if (list === void 0 || list.atomic || value.length === 0) return void 0;
  const level = {};
  for (const [element, items] of itemsByElement(list, value)) {
    level[element] = items.length > 1 ? LEAF : everything(list.element, items[0]);
  }
  return level;
}

// src/engine/apiserver/apply/owned-fields.ts
function statedFields(type, config, ignored) {
  const level = type.map && isJsonObject(config) ? fieldsOf(type.map, config, ignored) : void 0;
  return level && inOrder(level);
}
function below(type, value, ignored) {
  switch (sideOf(type, value)) {
    case "scalar":
      return { self: true };
    case "map":
      if (type.map.atomic) return { self: true };
      return { self: false, level: isJsonObject(value) ? fieldsOf(type.map, value, ignored) : void 0 };
    case "list":
    default:
      if (type.list.atomic) return { self: true };
      return { self: false, level: Array.isArray(value) ? itemsOf(type, value) : void 0 };
  }
}
function fieldsOf(map, value, ignored) {
  let result;
  for (const name in value) {
    const skip = ignored?.[name];
    if (skip === true) continue;
    const declared = map.field(name);
    const type = declared?.type ?? map.additional;
    if (type === void 0) continue;
    const item = value[name];
    const { self, level } = below(type, item, skip);
    const isNullOrEmpty = item === null || isJsonObject(item) && Object.keys(item).length === 0;
    const node = nodeOf(self || (isNullOrEmpty || declared === void 0) && skip === void 0, level && inOrder(level));
    if (node !== void 0) (result ??= {})[declared?.element ?? fieldElement(name)] = node;
  }
  return result;
}
function itemsOf({ list }, value) {
  let result;
  for (const [element, items] of itemsByElement(list, value)) {
    result ??= {};
    if (items.length > 1) result[element] = LEAF;
    else {
      const { level } = below(list.element, items[0], void 0);
      result[element] = nodeOf(true, level && inOrder(level));
    }
  }
  return result;
}
function withNamedFields(set, type) {
  if (set === void 0) return void 0;
  const result = {};
  for (const element in set) {
    if (element === ".") continue;
    const node = set[element];
    const children = childrenOf(node);
    const { inner, declared } = typeBelow(type, element);
    const member = isMember(node) || declared && children !== void 0;
    result[element] = nodeOf(member, withNamedFields(children, inner));
  }
  return result;
}
function typeBelow(type, element) {
  if (element.startsWith("f:") && type?.map) {
    const field = type.map.field(element.slice(2));
    return { inner: field?.type ?? type.map.additional, declared: field !== void 0 };
  }
  return { inner: element.startsWith("k:") ? type?.list?.element : void 0, declared: false };
}

// src/engine/apiserver/apply/last-applied.ts
var LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
var KUBECTL = "kubectl";
var ANNOTATIONS_MAX_BYTES = 256 * 1024;
function takenOverFields(manager, type, live, apiVersion) {
  const annotation = live.metadata.annotations?.[LAST_APPLIED];
  if (manager !== KUBECTL || !annotation) return void 0;
  let applied;
  try {
    applied = JSON.parse(annotation);
  } catch {
    return void 0;
  }
  if (!isJsonObject(applied) || applied.apiVersion !== apiVersion || typeFindings(type, applied).length > 0) return void 0;
  const found = difference2(type, applied, live);
  return difference(statedFields(type, applied), union(found.changed, found.removed));
}
function sortedJson(value) {
  if (Array.isArray(value)) return value.map((item) => sortedJson(item));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => compareText(a, b));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortedJson(item)]));
}
function updateLastApplied(manager, object, config) {
  const { annotations } = object.metadata;
  if (manager !== KUBECTL || !annotations?.[LAST_APPLIED]) return;
  const bare = sortedJson(config);
  if (isJsonObject(bare.metadata?.annotations)) {
    delete bare.metadata.annotations[LAST_APPLIED];
    if (Object.keys(bare.metadata.annotations).length === 0) delete bare.metadata.annotations;
  }
  annotations[LAST_APPLIED] = `${JSON.stringify(bare)}
`;
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  if (size > ANNOTATIONS_MAX_BYTES) delete annotations[LAST_APPLIED];
}

// src/engine/apiserver/apply/managed-entries.ts
function managedEntry(parts) {
  const { manager, operation, apiVersion, time, fieldsV1, subresource } = parts;
  return {
    ...manager ? { manager } : {},
    operation,
    apiVersion,
    ...time ? { time } : {},
    fieldsType: "FieldsV1",
    fieldsV1,
    ...subresource ? { subresource } : {}
  };
}
function sameManager(a, b) {
  return a.operation === b.operation && (a.manager ?? "") === (b.manager ?? "") && (a.subresource ?? "") === (b.subresource ?? "") && (a.operation === "Apply" || a.apiVersion === b.apiVersion);
}
function readManagedFields(entries) {
  const read = [];
  entries.forEach((entry, index) => {
    const { operation, apiVersion, fieldsType } = entry;
    if (operation !== "Apply" && operation !== "Update") throw new Error("operation must be `Apply` or `Update`");
    if (!apiVersion) throw new Error("apiVersion must not be empty");
    if (!fieldsType) throw new Error(`missing fieldsType in managed fields entry ${index}`);
    if (fieldsType !== "FieldsV1") throw new Error(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
    const fieldsV1 = (entry.fieldsV1 === void 0 ? void 0 : readFieldSet(entry.fieldsV1)) ?? {};
    const next = managedEntry({ ...entry, operation, apiVersion, fieldsV1 });
    const same = read.findIndex((candidate) => sameManager(candidate, next));
    if (same < 0) read.push(next);
    else read[same] = next;
  });
  return read;
}
function isReset(entries) {
  if (entries.length === 0) return true;
  return entries.length === 1 && Object.values(entries[0]).every((value) => value === "" || value === void 0 || value === null);
}
function compareEntries(a, b) {
  return compareText(a.operation, b.operation) || compareText(a.time ?? "", b.time ?? "") || compareText(a.manager ?? "", b.manager ?? "") || compareText(a.apiVersion, b.apiVersion) || compareText(a.subresource ?? "", b.subresource ?? "");
}
function sortEntries(entries) {
  return entries.length > 1 ? entries.sort(compareEntries) : entries;
}
var MAX_UPDATE_ENTRIES = 10;
var ANCIENT = "ancient-changes";
function byAge(a, b) {
  return compareText(a.time ?? "", b.time ?? "") || compareText(identity(a), identity(b));
}
function identity({ manager, operation, apiVersion, subresource }) {
  return JSON.stringify({ manager, operation, apiVersion, subresource });
}
function capEntries(entries) {
  const updaters = entries.filter((entry) => entry.operation === "Update").sort(byAge);
  if (updaters.length <= MAX_UPDATE_ENTRIES) return entries;
  const kept = new Set(entries);
  const first = /* @__PURE__ */ new Map();
  const buckets = /* @__PURE__ */ new Map();
  for (const entry of entries) if (entry.manager === ANCIENT && !entry.subresource) buckets.set(entry.apiVersion, entry);
  let count = updaters.length;
  for (const entry of updaters) {
    if (count <= MAX_UPDATE_ENTRIES) break;
    const oldest = first.get(entry.apiVersion);
    if (oldest === void 0) {
      first.set(entry.apiVersion, entry);
      continue;
    }
    const bucket = buckets.get(entry.apiVersion) ?? oldest;
    const merged = managedEntry({ ...entry, manager: ANCIENT, subresource: void 0, fieldsV1: union(bucket.fieldsV1, entry.fieldsV1) });
    kept.delete(bucket);
    kept.delete(entry);
    kept.add(merged);
    buckets.set(entry.apiVersion, merged);
    count--;
  }
  return [...kept];
}

// src/engine/apiserver/apply/merge-values.ts
function mergeValues(type, live, config) {
  if (config === void 0) return live;
  if (live === void 0) return config;
  const side = sideOf(type, config === null ? live : config);
  if (side !== sideOf(type, live === null ? config : live)) return config;
  if (side === "map" && !type.map.atomic) return mergeMaps(type.map, live, config);
  if (side === "list" && !type.list.atomic) return mergeLists(type.list, live, config);
  return config;
}
function isEmpty(value) {
  return value === null || (Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0);
}
function mergeMaps(map, live, config) {
  if (isEmpty(live)) return config;
  if (isEmpty(config)) return live;
  const merged = {};
  for (const name in live) {
    const type = map.field(name)?.type ?? map.additional;
    const stated = Object.hasOwn(config, name);
    setField(merged, name, stated && type !== void 0 ? mergeValues(type, live[name], config[name]) : live[name]);
  }
  for (const name in config) if (!Object.hasOwn(live, name)) setField(merged, name, config[name]);
  return merged;
}
function mergeLists(list, live, config) {
  if (isEmpty(live)) return config;
  if (isEmpty(config)) return live;
  const merge = new ListMerge(list, live, config);
  return merge.run();
}
var ListMerge = class {
  #list;
  #live;
  #liveElements;
  /** Null for items that repeat a step: they cannot be merged with. */
  #liveItems = /* @__PURE__ */ new Map();
  #configElements;
  #configItems = /* @__PURE__ */ new Map();
  #merged = [];
  constructor(list, live, config) {
    this.#list = list;
    this.#live = live;
    this.#liveElements = live.map((item) => itemElement(list, item));
    this.#liveElements.forEach((element, i) => this.#liveItems.set(element, this.#liveItems.has(element) ? null : live[i]));
    this.#configElements = config.map((item) => itemElement(list, item));
    this.#configElements.forEach((element, i) => this.#configItems.set(element, config[i]));
  }
  run() {
    const shared = this.#configElements.filter((element) => this.#liveItems.has(element));
    const done = /* @__PURE__ */ new Set();
    let nextShared = 0;
    let l = 0;
    let c = 0;
    while (l < this.#liveElements.length || c < this.#configElements.length) {
      const liveElement = this.#liveElements[l];
      const configElement = this.#configElements[c];
      const bothLeft = liveElement !== void 0 && configElement !== void 0;
      if (bothLeft && liveElement === configElement) {
        this.#takeConfig(configElement, done);
        l++;
        c++;
        nextShared++;
        continue;
      }
      if (bothLeft && this.#configItems.has(liveElement) && shared[nextShared] !== void 0 && shared[nextShared] !== liveElement) {
        l++;
        continue;
      }
      if (liveElement !== void 0) {
        if (!this.#configItems.has(liveElement)) {
          this.#merged.push(this.#live[l]);
          l++;
          continue;
        }
        if (done.has(liveElement)) l++;
      }
      if (configElement !== void 0) {
        this.#takeConfig(configElement, done);
        c++;
        if (shared[nextShared] === configElement) nextShared++;
      }
    }
    return this.#merged;
  }
  #takeConfig(element, done) {
    done.add(element);
    const live = this.#liveItems.get(element) ?? void 0;
    this.#merged.push(mergeValues(this.#list.element, live, this.#configItems.get(element)));
  }
};

// src/engine/apiserver/apply/object-type.ts
var text = { type: "string" };
var texts = { type: "object", additionalProperties: text };
var OBJECT_META = {
  type: "object",
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: { type: "integer" },
    creationTimestamp: { type: "string", format: "date-time" },
    deletionTimestamp: { type: "string", format: "date-time" },
    deletionGracePeriodSeconds: { type: "integer" },
    labels: texts,
    annotations: texts,
    ownerReferences: {
      type: "array",
      items: {
        type: "object",
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: { type: "boolean" },
          blockOwnerDeletion: { type: "boolean" }
        },
        "x-kubernetes-map-type": "atomic"
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"]
    },
    finalizers: { type: "array", items: text, "x-kubernetes-list-type": "set" },
    managedFields: { type: "array", items: { type: "object" }, "x-kubernetes-list-type": "atomic" }
  }
};
var inline = (node) => node;
var OWNED_BY_SERVER = {
  name: true,
  namespace: true,
  creationTimestamp: true,
  selfLink: true,
  uid: true,
  clusterName: true,
  generation: true,
  managedFields: true,
  resourceVersion: true
};
function withReset(tree, resetFields) {
  for (const path of resetFields ?? []) {
    const names = path.split(".");
    let level = tree;
    for (const name of names.slice(0, -1)) {
      const below2 = level[name] ?? {};
      if (below2 === true) break;
      level[name] = below2;
      level = below2;
    }
    level[names[names.length - 1]] = true;
  }
  return tree;
}
function customType(type) {
  const metadata = { element: "f:metadata", type: typeOfSchema(OBJECT_META, inline) };
  const declared = type.map;
  const map = {
    atomic: false,
    field: (name) => name === "metadata" ? metadata : declared?.field(name),
    get additional() {
      return declared?.additional;
    }
  };
  return { map };
}
function once(make) {
  const made = /* @__PURE__ */ new Map();
  return (subresource) => {
    let tree = made.get(subresource);
    if (tree === void 0) made.set(subresource, tree = make(subresource));
    return tree;
  };
}
var known = /* @__PURE__ */ new WeakMap();
function objectTypeOf(resource) {
  const { schema, resolve, strategy } = resource;
  let found = known.get(schema);
  if (found === void 0) {
    const type = typeOfSchema(schema, resolve);
    const metadata = resolve(schema).properties?.metadata;
    const isCustom = metadata?.$ref === void 0 && metadata?.allOf === void 0;
    const resets = strategy.resetFields;
    found = {
      type: isCustom ? customType(type) : type,
      empty: resource.empty?.() ?? {},
      ignored: once((name) => withReset({ apiVersion: true, kind: true, metadata: { ...OWNED_BY_SERVER } }, resets[name])),
      reset: once((name) => withReset({}, resets[name]))
    };
    known.set(schema, found);
  }
  return found;
}

// src/engine/apiserver/apply/remove-fields.ts
function removeFields(type, value, set) {
  if (isEmptySet(set)) return value;
  switch (sideOf(type, value)) {
    case "map":
      return isJsonObject(value) ? fromMap(type.map, value, set) : null;
    case "list":
      return Array.isArray(value) ? fromList(type.list, value, set) : null;
    case "scalar":
    default:
      return value;
  }
}
function fromMap(map, value, set) {
  if (map.atomic) return null;
  const kept = {};
  for (const name in value) {
    const field = map.field(name);
    const node = set[field?.element ?? fieldElement(name)];
    if (isMember(node)) continue;
    const type = field?.type ?? map.additional;
    setField(kept, name, node === void 0 || type === void 0 ? value[name] : removeFields(type, value[name], childrenOf(node)));
  }
  return Object.keys(kept).length > 0 ? kept : null;
}
function fromList(list, value, set) {
  if (list.atomic) return null;
  const kept = [];
  for (const item of value) {
    const node = nodeFor(list, item, set);
    if (isMember(node)) continue;
    kept.push(node === void 0 ? item : removeFields(list.element, item, childrenOf(node)));
  }
  return kept.length > 0 ? kept : null;
}
function nodeFor(list, item, set) {
  try {
    return set[itemElement(list, item)];
  } catch (error) {
    if (error instanceof ItemError) return void 0;
    throw error;
  }
}

// src/engine/apiserver/apply/prune.ts
function pruneUnowned(type, merged, last, owned) {
  if (last === void 0) return merged;
  const lastFields = withNamedFields(last, type);
  const bare = removeFields(type, merged, lastFields);
  const mergedFields = withNamedFields(statedFields(type, merged), type);
  const wanted = owned.reduce((all, set) => union(all, set), void 0);
  const kept = union(fieldsOf2(type, bare), withNamedFields(wanted, type));
  const restored = removeFields(type, merged, difference(mergedFields, kept));
  return removeFields(type, merged, intersection(difference(mergedFields, fieldsOf2(type, restored)), lastFields));
}
function fieldsOf2(type, value) {
  return withNamedFields(statedFields(type, value), type);
}

// src/engine/apiserver/apply/track-update.ts
function trackUpdate(old, next, options) {
  const entries = startingEntries(old, next, options.subresource);
  if (entries.length === 0 && old !== void 0) {
    delete next.metadata.managedFields;
    return;
  }
  const { type, empty, ignored } = objectTypeOf(options.resource);
  const found = difference2(type, old ?? empty, next, ignored(options.subresource));
  const updated = recordUpdate(entries, found, options);
  if (updated.length > 0) next.metadata.managedFields = updated;
  else delete next.metadata.managedFields;
}
function startingEntries(old, next, subresource) {
  const stored = old?.metadata.managedFields ?? [];
  const given = next.metadata.managedFields;
  if (subresource !== "" || given === void 0 || given === null) return stored;
  if (given === old?.metadata.managedFields || given.length === stored.length && deepEqual(given, stored)) return stored;
  if (isReset(given)) return [];
  try {
    const read = readManagedFields(given);
    return read.length > 0 ? read : stored;
  } catch {
    return stored;
  }
}
function recordUpdate(entries, found, options) {
  const { changed, removed } = found;
  if (changed === void 0 && removed === void 0) return entries;
  const apiVersion = toApiVersion(options.resource.group, options.resource.version);
  const self = { manager: options.manager || "unknown", operation: "Update", apiVersion, subresource: options.subresource };
  const result = [];
  let own;
  let same = true;
  for (const entry of entries) {
    if (own === void 0 && sameManager(entry, self)) {
      own = entry;
      continue;
    }
    const kept = without(entry.fieldsV1, changed, removed);
    if (kept === entry.fieldsV1) result.push(entry);
    else {
      same = false;
      if (!isEmptySet(kept)) result.push({ ...entry, fieldsV1: kept });
    }
  }
  const owned = ownFields(own?.fieldsV1, changed, removed);
  if (owned !== void 0) {
    const time = changed === void 0 ? own?.time : formatTime(options.now());
    if (own !== void 0 && own.time === time && own.fieldsV1 === owned) result.push(own);
    else result.push(managedEntry({ ...self, time, fieldsV1: owned }));
  }
  if (same && result.length === entries.length && entries.every((entry) => result.includes(entry))) return entries;
  return sortEntries(capEntries(result));
}
function without(set, changed, removed) {
  const kept = changed !== void 0 && intersects(set, changed) ? difference(set, changed) : set;
  return kept !== void 0 && removed !== void 0 && intersects(kept, removed) ? difference(kept, removed) : kept;
}
function ownFields(set, changed, removed) {
  const kept = set !== void 0 && removed !== void 0 && intersects(set, removed) ? difference(set, removed) : set;
  if (changed === void 0) return kept;
  if (kept === void 0) return changed;
  return covers(kept, changed) ? kept : union(kept, changed);
}

// src/engine/apiserver/apply/apply.ts
function applyConfiguration(live, config, options) {
  const { resource, subresource, manager } = options;
  const apiVersion = toApiVersion(resource.group, resource.version);
  const { type, empty, ignored, reset } = objectTypeOf(resource);
  checkConfiguration(type, config, resource);
  const target = live ?? { ...empty, apiVersion, kind: resource.kind, metadata: { ...empty.metadata } };
  const { managedFields: stored, ...metadata } = target.metadata;
  const bare = { ...target, metadata };
  const entries = entriesBefore(stored, type, empty, bare, options);
  const self = { manager, operation: "Apply", apiVersion, subresource };
  const applier = new Applier(type, ignored(subresource), bare, config, entries, self);
  const merged = applier.merge(reset(subresource));
  const found = applier.compare(merged);
  if (!options.force) refuseConflicts(applier.conflicts(found), takenOverFields(manager, type, bare, apiVersion));
  const unchanged = live !== void 0 && deepEqual(bare, merged);
  const time = unchanged ? entries.find((entry) => sameManager(entry, self))?.time : formatTime(options.now());
  const result = unchanged ? deepCopy(bare) : options.decode(deepCopy(merged));
  updateLastApplied(manager, result, config);
  const updated = applier.entriesAfter(found, time);
  if (updated.length > 0) result.metadata.managedFields = updated;
  return result;
}
function checkConfiguration(type, config, resource) {
  const apiVersion = toApiVersion(resource.group, resource.version);
  if (config.apiVersion !== apiVersion || config.kind !== resource.kind) {
    throw badRequestError(`invalid object type: ${printKind(config.apiVersion ?? "", config.kind ?? "")}`);
  }
  const { managedFields, name, namespace } = config.metadata ?? {};
  if (managedFields !== void 0 && managedFields !== null) throw badRequestError("metadata.managedFields must be nil");
  const findings = typeFindings(type, config);
  if (findings.length === 0) return;
  const subject = `${namespace ?? ""}/${name ?? ""}; ${printKind(apiVersion, resource.kind)}`;
  throw failure("", `failed to create typed patch object (${subject}): ${joinFindings(findings)}`);
}
function printKind(apiVersion, kind) {
  return `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}
function entriesBefore(stored, type, empty, live, options) {
  let entries;
  try {
    entries = readManagedFields(stored ?? []);
  } catch (error) {
    throw failure("", `failed to decode managed fields: ${error.message}`);
  }
  if (entries.length > 0) return entries;
  const { ignored } = objectTypeOf(options.resource);
  const found = difference2(type, empty, live, ignored(options.subresource));
  return recordUpdate([], { changed: found.changed }, { ...options, manager: "before-first-apply" });
}
function refuseConflicts(conflicts2, allowed) {
  const refused = conflicts2.map(({ entry, fields }) => ({ entry, fields: difference(fields, allowed) })).filter((conflict) => !isEmptySet(conflict.fields));
  if (refused.length > 0) throw conflictRefusal(refused);
}
var Applier = class {
  #type;
  #ignored;
  #live;
  #config;
  #others;
  #last;
  #stated;
  #self;
  constructor(type, ignored, live, config, entries, self) {
    this.#type = type;
    this.#ignored = ignored;
    this.#live = live;
    this.#config = config;
    this.#self = self;
    this.#last = entries.find((entry) => sameManager(entry, self));
    this.#others = entries.filter((entry) => entry !== this.#last);
    this.#stated = statedFields(type, config, ignored);
  }
  /** What the configuration says of the server's own fields counts here: it keeps metadata from being pruned as a whole. */
  merge(reset) {
    const merged = mergeValues(this.#type, this.#live, this.#config);
    const owned = this.#others.map((entry) => entry.fieldsV1);
    const stated = statedFields(this.#type, this.#config, reset);
    if (stated !== void 0) owned.push(stated);
    return pruneUnowned(this.#type, merged, this.#last?.fieldsV1, owned);
  }
  compare(merged) {
    return difference2(this.#type, this.#live, merged, this.#ignored);
  }
  conflicts({ changed }) {
    const found = [];
    for (const entry of this.#others) {
      const fields = intersection(entry.fieldsV1, changed);
      if (fields !== void 0) found.push({ entry, fields });
    }
    return found;
  }
  entriesAfter({ changed, removed }, time) {
    const after = [];
    for (const entry of this.#others) {
      const kept = difference(difference(entry.fieldsV1, changed), removed);
      if (kept === entry.fieldsV1) after.push(entry);
      else if (!isEmptySet(kept)) after.push({ ...entry, fieldsV1: kept });
    }
    if (!isEmptySet(this.#stated)) after.push(managedEntry({ ...this.#self, time, fieldsV1: this.#stated }));
    return sortEntries(after);
  }
};

// src/engine/apiserver/builtin/recorded.ts
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
var folder;
function recordedFolder() {
  if (folder === void 0) {
    const here = dirname(fileURLToPath(import.meta.url));
    const candidates = [join(here, "generated"), join(here, "kubernetes"), join(here, "..", "kubernetes")];
    folder = candidates.find((path) => existsSync(join(path, "resources.json")));
    if (folder === void 0) {
      throw new Error(`Cannot find the recorded Kubernetes kinds "resources.json": not in ${candidates.join(", ")}; build again`);
    }
  }
  return folder;
}
function readRecorded(file) {
  return readFileSync(join(recordedFolder(), file));
}
function readRecordedJson(file) {
  return JSON.parse(readRecorded(file).toString("utf8"));
}

// src/engine/apiserver/builtin/decode/go-type.ts
var SPECIAL_DEFINITIONS = /* @__PURE__ */ new Set([
  "io.k8s.apimachinery.pkg.api.resource.Quantity",
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
  "io.k8s.apimachinery.pkg.runtime.RawExtension",
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray"
]);
var table;
var parsedFields = /* @__PURE__ */ new Map();
var parsedTypes = /* @__PURE__ */ new Map();
function goType2(expression) {
  let type = parsedTypes.get(expression);
  if (!type) parsedTypes.set(expression, type = parseType(expression));
  return type;
}
function parseType(expression) {
  if (expression.startsWith("*")) {
    const element = goType2(expression.slice(1));
    return { form: "pointer", name: element.name, element };
  }
  if (expression === "[]byte") return { form: "bytes", name: "[]uint8" };
  if (expression.startsWith("[]")) {
    const element = goType2(expression.slice(2));
    return { form: "slice", name: `[]${printed(element)}`, element };
  }
  if (expression.startsWith("map[")) {
    const close = expression.indexOf("]");
    const element = goType2(expression.slice(close + 1));
    return { form: "map", name: `map[${shortName(expression.slice(4, close))}]${printed(element)}`, element };
  }
  if (expression.startsWith("io.k8s.")) return parseNamed(expression);
  switch (expression) {
    case "string":
    case "bool":
    case "int32":
    case "int64":
    case "float64":
      return { form: expression, name: expression };
    case "int":
      return { form: "int64", name: "int" };
    default:
      return { form: "any", name: expression };
  }
}
function parseNamed(definition) {
  const name = shortName(definition);
  if (SPECIAL_DEFINITIONS.has(definition)) return { form: "special", name, definition };
  const underlying = structTable().named[definition];
  if (underlying === void 0) return { form: "struct", name, definition };
  return { ...goType2(underlying), name };
}
function printed(type) {
  return type.form === "pointer" ? `*${type.name}` : type.name;
}
function shortName(definition) {
  return definition.split(".").slice(-2).join(".");
}
function fieldsOf3(definition) {
  let fields = parsedFields.get(definition);
  if (!fields) {
    const records = structTable().structs[definition];
    if (!records) throw new Error(`Cannot decode "${definition}": no such recorded struct; regenerate the recorded kinds`);
    fields = records.map(([json, type, emit]) => ({
      json,
      type: goType2(type),
      omit: emit === "!" ? "never" : emit === "z" ? "zero" : "empty"
    }));
    parsedFields.set(definition, fields);
  }
  return fields;
}
function structTable() {
  table ??= readRecordedJson("structs.json");
  return table;
}

// src/engine/apiserver/builtin/decode/empty-object.ts
function emptyObject(definition) {
  return emptyStruct(definition);
}
function emptyStruct(definition) {
  const empty = {};
  for (const field of fieldsOf3(definition)) {
    const value = emptyField(field);
    if (value !== void 0) empty[field.json] = value;
  }
  return empty;
}
function emptyField({ type, omit }) {
  if (omit === "zero") return void 0;
  if (type.form === "struct") return emptyStruct(type.definition);
  return omit === "never" || type.form === "special" ? zero(type) : void 0;
}
function zero(type) {
  switch (type.form) {
    case "string":
      return "";
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "float64":
      return 0;
    case "struct":
      return emptyStruct(type.definition);
    case "special":
      return specialZero(type.definition);
    case "bytes":
    case "pointer":
    case "slice":
    case "map":
    case "any":
    default:
      return null;
  }
}
function specialZero(definition) {
  if (definition.endsWith(".Quantity")) return "0";
  return definition.endsWith(".IntOrString") ? 0 : null;
}

// src/engine/apiserver/builtin/schemas.ts
var schemas;
function schemaOf(definition) {
  schemas ??= readRecordedJson("schemas.json");
  const schema = schemas[definition];
  if (!schema) throw new Error(`Cannot find the schema "${definition}": it is not among the recorded kinds; regenerate them`);
  return schema;
}
var PREFIX = "#/definitions/";
var resolveBuiltin = (node) => {
  let resolved = node;
  while (resolved.$ref !== void 0) resolved = schemaOf(resolved.$ref.slice(PREFIX.length));
  return resolved;
};

// ../../tmp/ssafuzz.ts
var seed = Number(process.argv[2] ?? 1);
var rnd = () => {
  seed = seed * 1103515245 + 12345 & 2147483647;
  return seed / 2147483647;
};
var pick = (a) => a[Math.floor(rnd() * a.length)];
var maybe = (p = 0.5) => rnd() < p;
var sub = (a, p = 0.5) => {
  const r = a.filter(() => maybe(p));
  if (maybe(0.2)) r.reverse();
  return r;
};
var obj = (o, p = 0.5) => {
  const r = {};
  for (const k in o) if (maybe(p)) r[k] = o[k]();
  return r;
};
var strs = (p = 0.5) => obj({ a: () => pick(["1", "2"]), b: () => pick(["1", "2"]), "x.io/c": () => pick(["1", "2"]) }, p);
var meta = () => ({ name: "n", namespace: "d", ...obj({ labels: strs, annotations: strs, finalizers: () => sub(["a/b", "c/d"]), ownerReferences: () => sub(["u1", "u2"]).map((u) => ({ apiVersion: "v1", kind: "X", name: pick(["a", "b"]), uid: u })) }, 0.4) });
var container = (name) => ({ name, ...obj({ image: () => pick(["i1", "i2"]), args: () => sub(["x", "y"]), ports: () => sub([80, 443, 8080]).map((p) => ({ containerPort: p, ...maybe(0.6) ? { protocol: "TCP" } : {}, ...obj({ name: () => pick(["p", "q"]) }) })), env: () => sub(["A", "B", "C"]).map((n) => ({ name: n, ...obj({ value: () => pick(["1", "2"]) }, 0.8) })), resources: () => obj({ limits: () => obj({ cpu: () => pick(["1", "500m"]), memory: () => "1Gi" }), requests: () => obj({ cpu: () => "1" }) }), securityContext: () => obj({ privileged: () => maybe(), capabilities: () => obj({ add: () => sub(["A", "B"]) }) }), volumeMounts: () => sub(["/a", "/b"]).map((m) => ({ mountPath: m, name: "v" })), livenessProbe: () => obj({ periodSeconds: () => pick([1, 2]), httpGet: () => ({ port: pick([80, "http"]), ...obj({ path: () => "/" }) }) }) }) });
var podSpec = () => ({ containers: sub(["c1", "c2", "c3"], 0.6).map(container), ...obj({ volumes: () => sub(["v", "w"]).map((n) => ({ name: n, ...maybe() ? { emptyDir: obj({ medium: () => "Memory" }) } : { configMap: { name: pick(["a", "b"]) } } })), nodeSelector: strs, tolerations: () => sub(["a", "b"]).map((k) => ({ key: k })), restartPolicy: () => pick(["Always", "Never"]), securityContext: () => obj({ fsGroup: () => pick([1, 2]), sysctls: () => [{ name: "a", value: "b" }] }), imagePullSecrets: () => sub(["a", "b"]).map((n) => ({ name: n })), hostAliases: () => sub(["1.1.1.1", "2.2.2.2"]).map((ip) => ({ ip, hostnames: ["a"] })), affinity: () => obj({ nodeAffinity: () => obj({ preferredDuringSchedulingIgnoredDuringExecution: () => [{ weight: 1, preference: {} }] }) }), topologySpreadConstraints: () => [{ maxSkew: 1, topologyKey: pick(["a", "b"]), whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: strs() } }] }, 0.35) });
var KINDS = {
  ConfigMap: { def: "io.k8s.api.core.v1.ConfigMap", gv: "v1", gen: () => ({ metadata: meta(), ...obj({ data: strs, binaryData: () => obj({ z: () => "AAAA" }), immutable: () => maybe() }) }) },
  Deployment: { def: "io.k8s.api.apps.v1.Deployment", gv: "apps/v1", gen: () => ({ metadata: meta(), ...obj({ spec: () => obj({ replicas: () => pick([1, 2]), selector: () => ({ matchLabels: strs() }), strategy: () => obj({ type: () => pick(["Recreate", "RollingUpdate"]), rollingUpdate: () => obj({ maxSurge: () => pick([1, "25%"]), maxUnavailable: () => 1 }) }), template: () => ({ ...obj({ metadata: () => obj({ labels: strs, annotations: strs }), spec: podSpec }, 0.8) }), paused: () => maybe() }, 0.7) }, 0.9) }), status: () => ({ replicas: pick([1, 2]), ...obj({ readyReplicas: () => 1, conditions: () => sub(["A", "B"]).map((t) => ({ type: t, status: pick(["True", "False"]) })) }) }) },
  Pod: { def: "io.k8s.api.core.v1.Pod", gv: "v1", gen: () => ({ metadata: meta(), ...obj({ spec: podSpec }, 0.9) }), status: () => obj({ phase: () => pick(["Running", "Failed"]), conditions: () => sub(["A", "B"]).map((t) => ({ type: t, status: pick(["True", "False"]) })), podIPs: () => sub(["1.1.1.1", "2.2.2.2"]).map((ip) => ({ ip })), containerStatuses: () => [{ name: "c1", ready: maybe(), restartCount: 1, image: "i", imageID: "" }] }) },
  Service: { def: "io.k8s.api.core.v1.Service", gv: "v1", gen: () => ({ metadata: meta(), ...obj({ spec: () => obj({ ports: () => sub([80, 443]).map((p) => ({ port: p, ...maybe() ? { protocol: pick(["TCP", "UDP"]) } : {}, ...obj({ name: () => pick(["a", "b"]), targetPort: () => pick([80, "x"]) }) })), selector: strs, type: () => "ClusterIP", sessionAffinityConfig: () => obj({ clientIP: () => obj({ timeoutSeconds: () => 1 }) }), loadBalancerSourceRanges: () => sub(["a", "b"]) }) }, 0.9) }), status: () => obj({ loadBalancer: () => obj({ ingress: () => [{ ip: pick(["1", "2"]) }] }), conditions: () => sub(["A", "B"]).map((t) => ({ type: t, status: pick(["True", "False"]), lastTransitionTime: "2020-01-01T00:00:00Z", reason: "x", message: "" })) }) },
  Role: { def: "io.k8s.api.rbac.v1.Role", gv: "rbac.authorization.k8s.io/v1", gen: () => ({ metadata: meta(), ...obj({ rules: () => sub(["get", "list"]).map((v) => ({ verbs: [v], apiGroups: [""] })) }) }) },
  NetworkPolicy: { def: "io.k8s.api.networking.v1.NetworkPolicy", gv: "networking.k8s.io/v1", gen: () => ({ metadata: meta(), ...obj({ spec: () => obj({ podSelector: () => obj({ matchLabels: strs }), ingress: () => [obj({ ports: () => [{ port: 80 }] })], policyTypes: () => sub(["Ingress", "Egress"]) }) }, 0.9) }) }
};
var N = Number(process.argv[3] ?? 300);
var seqs = [];
for (let i = 0; i < N; i++) {
  const kind = pick(Object.keys(KINDS));
  const k = KINDS[kind];
  const steps = [];
  const n = 2 + Math.floor(rnd() * 8);
  let last = k.gen();
  for (let s = 0; s < n; s++) {
    const useStatus = !!k.status && s > 0 && maybe(0.25);
    const op = maybe(0.5) ? "apply" : "update";
    let o = k.gen();
    if (op === "update" && maybe(0.5)) {
      const base = structuredClone(last);
      const fresh = k.gen();
      for (const key of Object.keys(fresh)) if (maybe(0.5)) base[key] = fresh[key];
      o = base;
    }
    if (k.status && (useStatus || maybe(0.2))) o.status = k.status();
    o.apiVersion = k.gv;
    o.kind = kind;
    last = structuredClone(o);
    if (op === "update" && s > 0) {
      o.metadata.uid = "u1";
      o.metadata.resourceVersion = "1";
    }
    steps.push({ Op: op, Manager: pick(["m1", "m2", "kubectl", "m4"]), Subresource: useStatus ? "status" : "", Force: maybe(0.4), Object: o, KeepManaged: maybe(0.6) });
  }
  seqs.push({ APIVersion: k.gv, Kind: kind, Reset: k.status ? { "": [["status"]], status: [["spec"], ["metadata", "labels"]] } : {}, Steps: steps });
}
var out = execFileSync("/tmp/ssa", { input: seqs.map((s) => JSON.stringify(s)).join("\n") + "\n", maxBuffer: 1 << 30 }).toString().trim().split("\n").map((l) => JSON.parse(l));
var norm = (m) => (m ?? []).map(({ time, ...r }) => r).sort((a, b) => JSON.stringify([a.operation, a.manager, a.apiVersion, a.subresource]) < JSON.stringify([b.operation, b.manager, b.apiVersion, b.subresource]) ? -1 : 1);
var clean = (v) => {
  if (Array.isArray(v)) return v.length ? v.map((x) => clean(x) ?? null) : void 0;
  if (v && typeof v === "object") {
    const r = {};
    for (const k of Object.keys(v).sort()) {
      if (k === "managedFields") continue;
      const c = clean(v[k]);
      if (c !== void 0 && !(typeof c === "object" && c && !Array.isArray(c) && !Object.keys(c).length)) r[k] = c;
    }
    return r;
  }
  if (v === null || v === "" || v === 0 || v === false) return void 0;
  return v;
};
var fails = 0;
var checks = 0;
var conflicts = 0;
outer: for (let i = 0; i < seqs.length; i++) {
  const seq = seqs[i];
  const k = KINDS[seq.Kind];
  const [group, version] = seq.APIVersion.includes("/") ? seq.APIVersion.split("/") : ["", seq.APIVersion];
  const resource = { group, version, kind: seq.Kind, schema: schemaOf(k.def), resolve: resolveBuiltin, empty: () => emptyObject(k.def), strategy: { resetFields: Object.fromEntries(Object.entries(seq.Reset).map(([a, b]) => [a, b.map((p) => p.join("."))])) } };
  globalThis.cache ??= /* @__PURE__ */ new Map();
  let prev;
  let exists = false;
  for (let s = 0; s < seq.Steps.length; s++) {
    const st = seq.Steps[s];
    const o = out[i][s];
    checks++;
    const now = () => /* @__PURE__ */ new Date("2024-01-01T00:00:00Z");
    let got, err;
    try {
      if (st.Op === "apply") {
        got = applyConfiguration(exists ? prev : void 0, structuredClone(st.Object), { manager: st.Manager, force: st.Force, resource, subresource: st.Subresource, now, decode: (x) => x });
      } else {
        got = structuredClone(o.new);
        trackUpdate(exists ? structuredClone(prev) : void 0, got, { manager: st.Manager, resource, subresource: st.Subresource, now });
      }
    } catch (e) {
      err = e.message;
      if (!e.status) err = e.stack;
    }
    const want = norm(o.live.metadata.managedFields), have = norm(got?.metadata.managedFields);
    const show = (t) => {
      fails++;
      if (fails < 4) console.log("FAIL", t, "seq", i, "step", s, seq.Kind, st.Op, st.Manager, st.Subresource, "force", st.Force, "keep", st.KeepManaged, "\nprev", JSON.stringify(prev), "\nobject", JSON.stringify(o.new ?? st.Object), "\ngoerr", o.err, "\nour err", err, "\nwant", JSON.stringify(want), "\nhave", JSON.stringify(have));
    };
    const sortMsg = (m) => m?.split("\n").sort().join("\n");
    if (o.err || err) {
      conflicts++;
      if (sortMsg(o.err?.replace(/Apply failed with \d+ conflicts: /, "")) !== sortMsg(err?.replace(/Apply failed with \d+ conflicts: /, ""))) {
        show("error");
        continue outer;
      }
    } else {
      if (JSON.stringify(want) !== JSON.stringify(have)) {
        show("fields");
        continue outer;
      }
      if (st.Op === "apply") {
        const w = clean(o.live), h = clean(got);
        delete h.metadata.uid;
        delete w.metadata.uid;
        delete h.metadata.resourceVersion;
        delete w.metadata.resourceVersion;
        if (JSON.stringify(w) !== JSON.stringify(h)) {
          show("object\n" + JSON.stringify(w) + "\n" + JSON.stringify(h));
          continue outer;
        }
      }
    }
    if (!o.err) exists = true;
    prev = o.live;
  }
}
console.log({ checks, conflicts, fails });

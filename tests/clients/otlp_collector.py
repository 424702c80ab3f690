"""Receives traces and metrics over OTLP/HTTP, decodes them with the published definitions of OpenTelemetry, and writes
each request to a file as a line of JSON.

    otlp_collector.py FILE

Prints its port first. Requests to other paths than those of OTLP are written with their header `traceparent`.
"""
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest, ExportMetricsServiceResponse)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest, ExportTraceServiceResponse)
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

WRITING = threading.Lock()


def attributes(pairs):
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


def spans(request):
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield {
                    "name": span.name,
                    "kind": Span.SpanKind.Name(span.kind),
                    "trace": span.trace_id.hex(),
                    "id": span.span_id.hex(),
                    "parent": span.parent_span_id.hex(),
                    "took_ns": span.end_time_unix_nano - span.start_time_unix_nano,
                    "status": Status.StatusCode.Name(span.status.code),
                    "attributes": attributes(span.attributes),
                    "events": [{"name": event.name, **attributes(event.attributes)} for event in span.events],
                    "resource": attributes(resource.resource.attributes),
                }


def point(data, kind):
    entry = {"attributes": attributes(data.attributes)}
    if kind == "histogram":
        return entry | {"count": data.count, "sum": data.sum, "buckets": list(data.bucket_counts),
                        "bounds": list(data.explicit_bounds)}
    return entry | {"value": getattr(data, data.WhichOneof("value"))}


def metrics(request):
    for resource in request.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                kind = metric.WhichOneof("data")
                data = getattr(metric, kind)
                if kind != "gauge":
                    assert data.aggregation_temporality == AGGREGATION_TEMPORALITY_CUMULATIVE, metric
                yield {
                    "name": metric.name,
                    "unit": metric.unit,
                    "kind": kind,
                    "is_monotonic": kind == "sum" and data.is_monotonic,
                    "points": [point(one, kind) for one in data.data_points],
                    "resource": attributes(resource.resource.attributes),
                }


SIGNALS = {
    "/v1/traces": (ExportTraceServiceRequest, ExportTraceServiceResponse, spans),
    "/v1/metrics": (ExportMetricsServiceRequest, ExportMetricsServiceResponse, metrics),
}


class Collector(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        entry, answer = {"path": self.path, "authorization": self.headers["authorization"]}, b""
        if self.path in SIGNALS:
            request, response, entries = SIGNALS[self.path]
            assert self.headers["content-type"] == "application/x-protobuf", self.headers
            decoded = request.FromString(body)
            size = decoded.ByteSize()
            decoded.DiscardUnknownFields()
            assert decoded.ByteSize() == size, f"unknown fields: {body.hex()}"
            entry["entries"], answer = list(entries(decoded)), response().SerializeToString()
        else:
            entry["traceparent"] = self.headers["traceparent"]
        with WRITING, open(sys.argv[1], "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
print(server.server_port, flush=True)
server.serve_forever()

#pragma once
// Layer tables shared by the builders of graphs and by folding.

#include <string>
#include <vector>

namespace diarist::model {

/// A two-dimensional convolution without bias, followed by a batch norm.
struct MapConvolution {
  std::string name;  // e.g. "resnet.layer2.0.conv1"
  std::string norm;  // e.g. "resnet.layer2.0.bn1"
  int in = 0, out = 0;
  int kernel = 3;
  int stride = 1;  // both axes in the ResNet, frequency only in CAM++
};

/// conv1 + ReLU, conv2, + the shortcut or the input, ReLU.
struct BasicBlock {
  std::string name;  // of the value it makes, e.g. "layer2.0"
  MapConvolution first, second;
  std::vector<MapConvolution> shortcut;  // none (identity) or one 1x1 convolution
};

/// Basic blocks of one stage: the first has the stride, and a 1x1 shortcut if it changes anything.
std::vector<BasicBlock> basic_blocks(const std::string& prefix, const std::string& stage, int in,
                                     int out, int blocks, int stride);

// --- WeSpeaker ResNet34 (models.md (c))
MapConvolution resnet34_stem();
std::vector<BasicBlock> resnet34_blocks();
constexpr int kResnet34Bands = 10;  // frequency rows of the last map
constexpr int kResnet34Channels = 256;
constexpr int kResnet34Size = 256;  // numbers of an embedding

// --- CAM++ (campplus.md (b))
MapConvolution campplus_stem();
std::vector<BasicBlock> campplus_blocks();
MapConvolution campplus_last_convolution();

struct DenseStage {
  int number;  // "xvector.block<number>", "xvector.transit<number>"
  int layers;
  int dilation;
  int in;   // columns
  int out;  // columns behind the transit
  int grown() const { return in + 32 * layers; }
};
constexpr DenseStage kCampplusStages[] = {
    {1, 12, 1, 128, 256}, {2, 24, 2, 256, 512}, {3, 16, 2, 512, 512}};
constexpr int kCampplusHeadColumns = 320;  // 32 channels x 10 frequency rows
constexpr int kCampplusStemColumns = 128;
constexpr int kCampplusBottleneck = 128;
constexpr int kCampplusGate = 64;
constexpr int kCampplusGrowth = 32;
constexpr int kCampplusFrames = 512;  // columns of "frames"
constexpr int kCampplusSize = 192;    // numbers of an embedding

}  // namespace diarist::model

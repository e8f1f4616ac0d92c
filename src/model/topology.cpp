#include "model/topology.hpp"

namespace diarist::model {

std::vector<BasicBlock> basic_blocks(const std::string& prefix, const std::string& stage, int in,
                                     int out, int blocks, int stride) {
  std::vector<BasicBlock> list;
  for (int b = 0; b < blocks; ++b) {
    const std::string name = stage + "." + std::to_string(b);
    const std::string path = prefix + name + ".";
    const int block_in = b == 0 ? in : out;
    const int block_stride = b == 0 ? stride : 1;
    BasicBlock block;
    block.name = name;
    block.first = {path + "conv1", path + "bn1", block_in, out, 3, block_stride};
    block.second = {path + "conv2", path + "bn2", out, out, 3, 1};
    if (block_stride != 1 || block_in != out) {
      block.shortcut.push_back(
          {path + "shortcut.0", path + "shortcut.1", block_in, out, 1, block_stride});
    }
    list.push_back(block);
  }
  return list;
}

namespace {

void append(std::vector<BasicBlock>& list, std::vector<BasicBlock> more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

MapConvolution resnet34_stem() { return {"resnet.conv1", "resnet.bn1", 1, 32, 3, 1}; }

std::vector<BasicBlock> resnet34_blocks() {
  std::vector<BasicBlock> list = basic_blocks("resnet.", "layer1", 32, 32, 3, 1);
  append(list, basic_blocks("resnet.", "layer2", 32, 64, 4, 2));
  append(list, basic_blocks("resnet.", "layer3", 64, 128, 6, 2));
  append(list, basic_blocks("resnet.", "layer4", 128, 256, 3, 2));
  return list;
}

MapConvolution campplus_stem() { return {"head.conv1", "head.bn1", 1, 32, 3, 1}; }

std::vector<BasicBlock> campplus_blocks() {
  std::vector<BasicBlock> list = basic_blocks("head.", "layer1", 32, 32, 2, 2);
  append(list, basic_blocks("head.", "layer2", 32, 32, 2, 2));
  return list;
}

MapConvolution campplus_last_convolution() { return {"head.conv2", "head.bn2", 32, 32, 3, 2}; }

}  // namespace diarist::model
